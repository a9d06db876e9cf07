BEGIN TRANSACTION;
CREATE TABLE belman_deletions (
            request TEXT NOT NULL PRIMARY KEY,
            time FLOAT NOT NULL,
            events BIGINT NOT NULL
        );
CREATE TABLE belman_events (
            study INTEGER NOT NULL REFERENCES belman_studies (id),
            number BIGINT NOT NULL,
            kind SMALLINT NOT NULL,
            time FLOAT NOT NULL,
            arm INTEGER,
            draw SMALLINT,
            probability FLOAT,
            ticket BIGINT,
            reward FLOAT,
            key TEXT,
            body TEXT,
            link BLOB NOT NULL,
            PRIMARY KEY (study, number)
        ) WITHOUT ROWID;
INSERT INTO "belman_events" VALUES(1,1,1,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"arms": ["a", "b"], "family": {"name": "bernoulli", "prior": [1.0, 1.0]}, "policy": {"name": "belman", "exposure": {"name": "evidence", "gain": 2.25, "reach": 7.5, "pool": 5.0, "horizon": null}, "reading": "barycentre"}, "priors": [], "clip": false, "minimise": false, "discount": 1.0, "seed": 6, "uniform_share": 0.0, "window": 60.0, "silence": 0.0, "accumulate": false, "early": true, "control": "a", "goal": "both", "stop_when": {"name": "separated", "delta": 0.05, "within": 0.0}, "then": "say", "guard": {"refund": "< 0.9"}}',X'0000000000000000E444DC35377D0A3030F22389C0D03460');
INSERT INTO "belman_events" VALUES(1,2,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,'{"shares": [0.5, 0.5]}',X'AADBF76BE9FCFDFA6411DF1F4624488D9715C3BA8498F898');
INSERT INTO "belman_events" VALUES(1,3,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'AADBF76BE9FCFDFAC7F2345A966B349F38BDD81872FB0B55');
INSERT INTO "belman_events" VALUES(1,4,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'AADBF76BE9FCFDFA1F100D933145889D4054BA4D7CE5C71B');
INSERT INTO "belman_events" VALUES(1,5,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'AADBF76BE9FCFDFAB5B3BE4912AE769099503672D3B3A7CF');
INSERT INTO "belman_events" VALUES(1,6,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'AADBF76BE9FCFDFA896EE3ED56C76A1C3A8E9179FDB5A963');
INSERT INTO "belman_events" VALUES(1,7,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'AADBF76BE9FCFDFA92E95326E8C3F421E79E9386E46E2238');
INSERT INTO "belman_events" VALUES(1,8,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'AADBF76BE9FCFDFA213147A08CF7B10B1C0CFA97ABF6077A');
INSERT INTO "belman_events" VALUES(1,9,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'AADBF76BE9FCFDFAAF2BDC86B45B5CA7F3A83E9D200888FE');
INSERT INTO "belman_events" VALUES(1,10,3,1700000000.0,1,NULL,NULL,2,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'AADBF76BE9FCFDFAA0C5A01279E5D1593D477A24669A212E');
INSERT INTO "belman_events" VALUES(1,11,3,1700000000.0,1,NULL,NULL,3,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'AADBF76BE9FCFDFA062A37F5A0C2E9775E8C184D6A088440');
INSERT INTO "belman_events" VALUES(1,12,3,1700000000.0,1,NULL,NULL,4,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'AADBF76BE9FCFDFA0E18FD4699965E197FCF78DFFB67E612');
INSERT INTO "belman_events" VALUES(1,13,3,1700000000.0,0,NULL,NULL,5,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'AADBF76BE9FCFDFAF74967D2BD56BBBABA0D44EE2549D822');
INSERT INTO "belman_events" VALUES(1,14,3,1700000000.0,0,NULL,NULL,6,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'AADBF76BE9FCFDFADA95766EEE8531533E30C2C951ECE756');
INSERT INTO "belman_events" VALUES(1,15,3,1700000000.0,0,NULL,NULL,7,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'AADBF76BE9FCFDFA2BA684003FCD49F6672AEA8FB50ABA70');
INSERT INTO "belman_events" VALUES(1,16,3,1700000000.0,1,NULL,NULL,8,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'AADBF76BE9FCFDFAB0991291FDB851DF953B3306C24F3A86');
INSERT INTO "belman_events" VALUES(1,17,3,1700000000.0,1,NULL,NULL,9,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'AADBF76BE9FCFDFAA57F299A70B21BF56DA45CD82C22512A');
INSERT INTO "belman_events" VALUES(1,18,14,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": "", "weights": {"format": "belman-weights/1", "study": "sample", "version": 18, "salt": "bd546cb7af5460b0", "arms": ["a", "b"], "cuts": [[2190777934, 0], [4294967296, 1]], "floors": [0.0, 0.0], "segment": null, "decisions": 100, "published": 1700000000.0, "valid_until": 1700086400.0, "weights": [0.5100802364759147, 0.4899197635240853]}, "plan": [100, 3600.0, 86400.0]}',X'0000000000000000017BB6F1120A85D3BC1031064625B937');
INSERT INTO "belman_events" VALUES(1,19,15,1700000000.0,NULL,NULL,NULL,NULL,NULL,'rows:39317f0588cb78e7c6d52220c7bb6d66/change','{"reason": "", "rows": 1, "groups": [], "arms": [], "patches": [], "assigned": [[0, 1]], "meant": [[0, 0.5100802364759147], [1, 0.4899197635240853]], "log_odds": -9.094947017729282e-13, "open": [[18, "unit-0", 0, 1.0, 1700000000.0, null]], "shares": [[18, [0.5100802364759147, 0.4899197635240853]]], "request": "10b4f4db3a58f161"}',X'000000000000000046A6E6AF28422710FBE51D89C0D11843');
INSERT INTO "belman_events" VALUES(1,20,8,1700000000.0,2,NULL,NULL,NULL,NULL,NULL,'{"reason": "", "name": "c", "prior": [1.0, 1.0]}',X'0000000000000000DA225BEF3D79C05EB7D1DC8DFB318918');
INSERT INTO "belman_events" VALUES(1,21,6,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": "tea"}',X'0000000000000000CD339917CABAAD5C655497235B8E16B2');
INSERT INTO "belman_events" VALUES(1,22,7,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": ""}',X'0000000000000000C24A724EB4F3E05D299B8E4C87193F3A');
INSERT INTO "belman_events" VALUES(2,1,1,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"arms": ["a", "b"], "family": {"name": "bernoulli", "prior": [1.0, 1.0]}, "policy": {"name": "belman", "exposure": {"name": "evidence", "gain": 2.25, "reach": 7.5, "pool": 5.0, "horizon": null}, "reading": "barycentre"}, "priors": [], "clip": false, "minimise": false, "discount": 1.0, "seed": 7, "uniform_share": 0.0, "accumulate": false, "early": false, "goal": "earn", "then": "say"}',X'0000000000000000DBDC966B652736602063B5B046D0F17E');
INSERT INTO "belman_events" VALUES(2,2,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'2E99B8E3B9AE8CCD8E39F8F0FF250D5580F257A2F395B292');
INSERT INTO "belman_events" VALUES(2,3,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'2E99B8E3B9AE8CCD24C1AE63723DBB83B09D8D449706EA41');
INSERT INTO "belman_events" VALUES(2,4,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'2E99B8E3B9AE8CCDD160FA6AD3A0EE213EBB00F1A3A7F95F');
INSERT INTO "belman_events" VALUES(2,5,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'2E99B8E3B9AE8CCDB37EEED5AF3FFEA36782F07EA29418F3');
INSERT INTO "belman_events" VALUES(2,6,2,1700000000.0,1,0,0.5,NULL,NULL,NULL,NULL,X'2E99B8E3B9AE8CCDF9211AA20B1845D3EB25E4743245CE6D');
INSERT INTO "belman_events" VALUES(2,7,2,1700000000.0,0,0,1.0,NULL,NULL,NULL,NULL,X'2E99B8E3B9AE8CCD75049C0D2472AE9447A4011D3CC67BD5');
INSERT INTO "belman_events" VALUES(2,8,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'2E99B8E3B9AE8CCD61EA7FFA4E030E20305915BEF30EEF93');
INSERT INTO "belman_events" VALUES(2,9,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'2E99B8E3B9AE8CCDE0F1F54C2E144CFFB85EF4206BBDDEC5');
INSERT INTO "belman_events" VALUES(2,10,3,1700000000.0,0,NULL,NULL,2,0.0,NULL,NULL,X'2E99B8E3B9AE8CCD800203A1753309ED46D57FCED7BC5606');
INSERT INTO "belman_events" VALUES(2,11,3,1700000000.0,1,NULL,NULL,3,1.0,NULL,NULL,X'2E99B8E3B9AE8CCD327CE535EF53257D933729A8895842AD');
INSERT INTO "belman_events" VALUES(2,12,3,1700000000.0,0,NULL,NULL,4,0.0,NULL,NULL,X'2E99B8E3B9AE8CCD5C2086DFE6F1E87827E3019391D69D97');
INSERT INTO "belman_events" VALUES(2,13,3,1700000000.0,1,NULL,NULL,5,1.0,NULL,NULL,X'2E99B8E3B9AE8CCD1CE9630C41AD354911279B6E4A0EB30E');
INSERT INTO "belman_events" VALUES(2,14,3,1700000000.0,1,NULL,NULL,6,0.0,NULL,NULL,X'2E99B8E3B9AE8CCDD0A89EDBC3AF0FE68977FF2AF65C6389');
INSERT INTO "belman_events" VALUES(2,15,3,1700000000.0,0,NULL,NULL,7,1.0,NULL,NULL,X'2E99B8E3B9AE8CCDBA0CD9A212403294F6F91B59BA214E54');
INSERT INTO "belman_events" VALUES(2,16,3,1700000000.0,0,NULL,NULL,8,0.0,NULL,NULL,X'2E99B8E3B9AE8CCDC703271274BEAE46CA39D423B519AC8F');
INSERT INTO "belman_events" VALUES(2,17,3,1700000000.0,1,NULL,NULL,9,1.0,NULL,NULL,X'2E99B8E3B9AE8CCDAB9621EFAC0B766CCFD027BA1506BCC4');
CREATE TABLE belman_keys (
            id TEXT NOT NULL PRIMARY KEY,
            name TEXT NOT NULL,
            role TEXT NOT NULL,
            hash TEXT NOT NULL,
            created FLOAT NOT NULL,
            revoked FLOAT
        );
CREATE TABLE belman_snapshots (
            study INTEGER NOT NULL REFERENCES belman_studies (id),
            number BIGINT NOT NULL,
            content TEXT NOT NULL,
            link BLOB NOT NULL,
            PRIMARY KEY (study, number)
        ) WITHOUT ROWID;
INSERT INTO "belman_snapshots" VALUES(1,16,'f5e3232a30e5d7ec2efb4b9a19e5e567
{"format":4,"number":16,"settings":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"priors":[],"clip":false,"minimise":false,"discount":1.0,"seed":6,"uniform_share":0.0,"window":60.0,"silence":0.0,"accumulate":false,"early":true,"control":"a","goal":"both","stop_when":{"name":"separated","delta":0.05,"within":0.0},"then":"say","guard":{"refund":"< 0.9"}},"decider":{"kind":"independent","state":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"range":null,"minimise":false,"clip":false,"clipped":0,"discount":1.0,"time":0.0,"told":0,"tells":[0,0],"pending":[3,5],"priors":[[1.0,1.0],[1.0,1.0]],"truth":{"beliefs":[[1.0,1.0],[1.0,1.0]],"plays":[0.0,0.0],"sums":[0.0,0.0],"squares":[0.0,0.0]},"retired":[],"memory":null,"working":null,"stale":null}},"register":["a","b"],"book":{"open":{"rows":8,"key":["runs",[2,8]],"arm":["runs",[1,3],[0,3],[1,2]],"time":["runs",[1700000000.0,8]],"mark":["runs",["aadbf76be9fcfdfa",8]],"reward":[0.0,1.0,0.0,1.0,0.0,1.0,0.0,null],"metrics":["runs",[{"refund":0.0},7],[null,1]],"context":["runs",[null,8]],"candidate":["runs",[null,8]],"attributes":["runs",[null,8]],"chances":["runs",[[0.5,0.5],1],[null,7]]},"counted":[],"time":1700000000.0},"early":{"law":{"window":60.0,"arms":2,"prior":4.0,"alarm":null,"counted":{"head":[7253333333],"silent":[["runs",[0,85],[1,1],[0,171]],["runs",[0,85],[4,1],[0,171]]],"told":["runs",[0,85],[3,1],[0,171]],"successes":[2,1],"delays":["runs",[3,1],[0,255]],"complete":[["runs",[0,256]],["runs",[0,256]]],"watch":[0,0]}},"told":[[3,1700000000.0],[5,1700000000.0],[7,1700000000.0]]},"tally":{"arms":[{"asks":3,"told":0,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[]},{"asks":5,"told":0,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[]}],"told":0,"reward":0.0,"expired":0,"past_sum":0.0,"draws":{"stages":[[2,[0.5,0.5]]],"chances":[0.5,0.5],"counts":[3,5],"seen":[],"meant":[],"log_odds":0.0,"due":3},"log_odds":0.0,"clipped":0,"bets":{"arms":2,"control":0,"kind":"rate","low":0.0,"high":1.0,"outcomes":0.0,"moments":[0.0,0.0,0.0,0.0,0.0],"guesses":[[-1.0,0.0,1.0,0.0]],"latest":0.0,"wins":[["runs",[0.0,97]]],"capitals":[["runs",[0.0,97]]],"sums":[[0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]],"levels":[["runs",[0.0,98]],["runs",[0.0,98]]]},"course":{"width":1,"steps":[[1700000000,{"asks":[[1,5],[0,3]],"rewards":0,"total":0.0}]],"changes":[[1,1,1700000000.0,null,""]]},"metrics":{"names":["refund"],"sums":[]},"attribute_names":[]},"guards":{"capitals":[],"stopped":[],"limits":{"refund":"< 0.9"},"since":{}},"publishing":{"current":[],"overtaken":[]},"noticed":0,"shipped":null,"ships_itself":false,"paused":false,"catalogue":[]}',X'AADBF76BE9FCFDFAB0991291FDB851DF953B3306C24F3A86');
INSERT INTO "belman_snapshots" VALUES(2,16,'90d8d6acdab0147d8abe646debc870a7
{"format":4,"number":16,"settings":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"priors":[],"clip":false,"minimise":false,"discount":1.0,"seed":7,"uniform_share":0.0,"accumulate":false,"early":false,"goal":"earn","then":"say"},"decider":{"kind":"independent","state":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"range":null,"minimise":false,"clip":false,"clipped":0,"discount":1.0,"time":0.0,"told":7,"tells":[4,3],"pending":[0,1],"priors":[[1.0,1.0],[1.0,1.0]],"truth":{"beliefs":[[2.0,4.0],[3.0,2.0]],"plays":[4.0,3.0],"sums":[1.0,2.0],"squares":[1.0,2.0]},"retired":[],"memory":null,"working":null,"stale":null}},"register":["a","b"],"book":{"open":{"rows":1,"key":[9],"arm":[1],"time":[1700000000.0],"mark":["2e99b8e3b9ae8ccd"],"reward":[null],"metrics":[null],"context":[null],"candidate":[null],"attributes":[null],"chances":[null]},"counted":[],"time":1700000000.0},"early":null,"tally":{"arms":[{"asks":4,"told":4,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[[1,[1.0,0.0,[1.0,2.0],1700000000.0,2]],[2,[2.0,0.0,[1.0,3.0],1700000000.0,4]],[3,[4.0,1.0,[2.0,4.0],1700000000.0,8]]]},{"asks":4,"told":3,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[[1,[1.0,1.0,[2.0,1.0],1700000000.0,3]],[2,[2.0,2.0,[3.0,1.0],1700000000.0,5]]]}],"told":7,"reward":3.0,"expired":0,"past_sum":0.0,"draws":{"stages":[],"chances":[],"counts":[],"seen":[],"meant":[],"log_odds":0.0,"due":0},"log_odds":0.0,"clipped":0,"bets":null,"course":{"width":1,"steps":[[1700000000,{"asks":[[0,4],[1,4]],"rewards":7,"total":3.0}]],"changes":[[1,1,1700000000.0,null,""]]},"metrics":{"names":[],"sums":[]},"attribute_names":[]},"guards":{"capitals":[],"stopped":[],"limits":{},"since":{}},"publishing":{"current":[],"overtaken":[]},"noticed":0,"shipped":null,"ships_itself":false,"paused":false,"catalogue":[]}',X'2E99B8E3B9AE8CCDC703271274BEAE46CA39D423B519AC8F');
CREATE TABLE belman_studies (
            id INTEGER NOT NULL PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            secret TEXT NOT NULL,
            created FLOAT NOT NULL,
            last BIGINT NOT NULL,
            link BLOB NOT NULL,
            archived FLOAT
        );
INSERT INTO "belman_studies" VALUES(1,'sample','0932ca3d0d6e89d762eef03fdd8f85bb',1700000000.0,1,X'0000000000000000E444DC35377D0A3030F22389C0D03460',NULL);
INSERT INTO "belman_studies" VALUES(2,'past','d913197e1ec7cf90259cf8227ac250d3',1700000000.0,1,X'0000000000000000DBDC966B652736602063B5B046D0F17E',NULL);
CREATE TABLE belman_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY);
INSERT INTO "belman_version" VALUES('0001');
CREATE INDEX belman_events_ticket ON belman_events (ticket)
            WHERE ticket IS NOT NULL;
CREATE UNIQUE INDEX belman_events_keyed ON belman_events (study, key)
            WHERE key IS NOT NULL;
COMMIT;
