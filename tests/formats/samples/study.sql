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
INSERT INTO "belman_events" VALUES(1,2,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,'{"shares": [0.5, 0.5]}',X'C02D3CFFC20B187E370E11888C09308CA243809C893E6051');
INSERT INTO "belman_events" VALUES(1,3,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'C02D3CFFC20B187E8974DAA4FDE36F5DCA10ECBD79662C47');
INSERT INTO "belman_events" VALUES(1,4,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'C02D3CFFC20B187E5AEFB02FAEA1AC990CA2B124E581127D');
INSERT INTO "belman_events" VALUES(1,5,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'C02D3CFFC20B187E0C7D73E9E12653BA483D324535E4479F');
INSERT INTO "belman_events" VALUES(1,6,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'C02D3CFFC20B187E4D2891AB2786DAEF6582FFE6DACFFCD6');
INSERT INTO "belman_events" VALUES(1,7,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'C02D3CFFC20B187EC6552109558807ED4EF97F6DC22C7C98');
INSERT INTO "belman_events" VALUES(1,8,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'C02D3CFFC20B187EEA964FDF4FC04E10E5933A250C46C242');
INSERT INTO "belman_events" VALUES(1,9,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'C02D3CFFC20B187E698D2A9A680128FBC96E63609FDC34BE');
INSERT INTO "belman_events" VALUES(1,10,3,1700000000.0,1,NULL,NULL,2,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'C02D3CFFC20B187E192F8E84FEDC516AAB1F1835C269C6F6');
INSERT INTO "belman_events" VALUES(1,11,3,1700000000.0,1,NULL,NULL,3,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'C02D3CFFC20B187EF0AB1859378F4BCCBE877804F8A84F36');
INSERT INTO "belman_events" VALUES(1,12,3,1700000000.0,1,NULL,NULL,4,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'C02D3CFFC20B187E197BD76B2E15622034226D9FCE2362D4');
INSERT INTO "belman_events" VALUES(1,13,3,1700000000.0,0,NULL,NULL,5,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'C02D3CFFC20B187EF086F503D7BF89CABA316A347BD74B39');
INSERT INTO "belman_events" VALUES(1,14,3,1700000000.0,0,NULL,NULL,6,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'C02D3CFFC20B187EAF561C351BE236C81E6F002C90E523D5');
INSERT INTO "belman_events" VALUES(1,15,3,1700000000.0,0,NULL,NULL,7,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'C02D3CFFC20B187E30B19A843BD3F99E8E47810C704D4B7C');
INSERT INTO "belman_events" VALUES(1,16,3,1700000000.0,1,NULL,NULL,8,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'C02D3CFFC20B187EB288F156540002CDC8257D633C2B0654');
INSERT INTO "belman_events" VALUES(1,17,3,1700000000.0,1,NULL,NULL,9,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'C02D3CFFC20B187E994CAC8E4FC80D04CEC57CCC3CB6C2ED');
INSERT INTO "belman_events" VALUES(1,18,14,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": "", "weights": {"format": "belman-weights/1", "study": "sample", "version": 18, "salt": "06c3969e03d5b6ba", "arms": ["a", "b"], "cuts": [[2190777934, 0], [4294967296, 1]], "floors": [0.0, 0.0], "segment": null, "decisions": 100, "published": 1700000000.0, "valid_until": 1700086400.0, "weights": [0.5100802364759147, 0.4899197635240853]}, "plan": [100, 3600.0, 86400.0]}',X'0000000000000000A38A4867B8C0A9A4DD87A2ED780328F4');
INSERT INTO "belman_events" VALUES(1,19,15,1700000000.0,NULL,NULL,NULL,NULL,NULL,'rows:39317f0588cb78e7c6d52220c7bb6d66/change','{"reason": "", "rows": 1, "groups": [], "arms": [], "patches": [], "assigned": [[0, 1]], "meant": [[0, 0.5100802364759147], [1, 0.4899197635240853]], "log_odds": -9.094947017729282e-13, "open": [[18, "unit-0", 0, 1.0, 1700000000.0, null]], "shares": [[18, [0.5100802364759147, 0.4899197635240853]]], "request": "10b4f4db3a58f161"}',X'0000000000000000B6DB98CBA8C88E51D10FE202B89D583E');
INSERT INTO "belman_events" VALUES(1,20,8,1700000000.0,2,NULL,NULL,NULL,NULL,NULL,'{"reason": "", "name": "c", "prior": [1.0, 1.0]}',X'0000000000000000F4F6B8F249C60EE4C80E8B81ED495A5D');
INSERT INTO "belman_events" VALUES(1,21,6,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": "tea"}',X'0000000000000000EEE268C6D8AF2D5067BA662279B3B464');
INSERT INTO "belman_events" VALUES(1,22,7,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": ""}',X'00000000000000004D9EA02B072E58E22EC1FEFF91CF7EC4');
INSERT INTO "belman_events" VALUES(2,1,1,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"arms": ["a", "b"], "family": {"name": "bernoulli", "prior": [1.0, 1.0]}, "policy": {"name": "belman", "exposure": {"name": "evidence", "gain": 2.25, "reach": 7.5, "pool": 5.0, "horizon": null}, "reading": "barycentre"}, "priors": [], "clip": false, "minimise": false, "discount": 1.0, "seed": 7, "uniform_share": 0.0, "accumulate": false, "early": false, "goal": "earn", "then": "say"}',X'0000000000000000DBDC966B652736602063B5B046D0F17E');
INSERT INTO "belman_events" VALUES(2,2,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'8A203343F6F9CE5B798C499D989F30C6915A4F39AF835414');
INSERT INTO "belman_events" VALUES(2,3,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'8A203343F6F9CE5B0CB1162A58A46E737C07512207CB2C1A');
INSERT INTO "belman_events" VALUES(2,4,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'8A203343F6F9CE5B9BA0B4726BA05F6D9FAC3213C9EB5AD1');
INSERT INTO "belman_events" VALUES(2,5,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'8A203343F6F9CE5B43852699D32D5A04DBA4FDC68BB4AFC3');
INSERT INTO "belman_events" VALUES(2,6,2,1700000000.0,1,0,0.5,NULL,NULL,NULL,NULL,X'8A203343F6F9CE5B96D8425DC3B4A877F8AA8CC1CB4B72B5');
INSERT INTO "belman_events" VALUES(2,7,2,1700000000.0,0,0,1.0,NULL,NULL,NULL,NULL,X'8A203343F6F9CE5BD7E7FD31D2CD4DFA00A2FBBECDF09B9B');
INSERT INTO "belman_events" VALUES(2,8,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'8A203343F6F9CE5B08313CAD9C563BB5B14A5EA946E754DC');
INSERT INTO "belman_events" VALUES(2,9,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'8A203343F6F9CE5BD38F0F371672CA73F7ABD1F478D49F8C');
INSERT INTO "belman_events" VALUES(2,10,3,1700000000.0,0,NULL,NULL,2,0.0,NULL,NULL,X'8A203343F6F9CE5BE81A801766FBA47F41D26C6E3714A58F');
INSERT INTO "belman_events" VALUES(2,11,3,1700000000.0,1,NULL,NULL,3,1.0,NULL,NULL,X'8A203343F6F9CE5BFC0AA343E0DA0AB78E4A33538D5A4752');
INSERT INTO "belman_events" VALUES(2,12,3,1700000000.0,0,NULL,NULL,4,0.0,NULL,NULL,X'8A203343F6F9CE5B82180FCFB163D8E4BBD412E58C27BF69');
INSERT INTO "belman_events" VALUES(2,13,3,1700000000.0,1,NULL,NULL,5,1.0,NULL,NULL,X'8A203343F6F9CE5B9F04FFBD837396515733A3FEC2757347');
INSERT INTO "belman_events" VALUES(2,14,3,1700000000.0,1,NULL,NULL,6,0.0,NULL,NULL,X'8A203343F6F9CE5B0BA2B91573DB331187581DE974F52BB3');
INSERT INTO "belman_events" VALUES(2,15,3,1700000000.0,0,NULL,NULL,7,1.0,NULL,NULL,X'8A203343F6F9CE5B8049EED165E8989DCC30ABEDFE46BA4E');
INSERT INTO "belman_events" VALUES(2,16,3,1700000000.0,0,NULL,NULL,8,0.0,NULL,NULL,X'8A203343F6F9CE5BCF61E500C5B80D5E1973AB6C0FEC4F98');
INSERT INTO "belman_events" VALUES(2,17,3,1700000000.0,1,NULL,NULL,9,1.0,NULL,NULL,X'8A203343F6F9CE5B6A2F593BD2DA0B86BFD4B1ED9975C056');
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
INSERT INTO "belman_snapshots" VALUES(1,16,'cb01fa87c5ad18c27669e7ed47c64098
{"format":4,"number":16,"settings":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"priors":[],"clip":false,"minimise":false,"discount":1.0,"seed":6,"uniform_share":0.0,"window":60.0,"silence":0.0,"accumulate":false,"early":true,"control":"a","goal":"both","stop_when":{"name":"separated","delta":0.05,"within":0.0},"then":"say","guard":{"refund":"< 0.9"}},"decider":{"kind":"independent","state":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"range":null,"minimise":false,"clip":false,"clipped":0,"discount":1.0,"time":0.0,"told":0,"tells":[0,0],"pending":[3,5],"priors":[[1.0,1.0],[1.0,1.0]],"truth":{"beliefs":[[1.0,1.0],[1.0,1.0]],"plays":[0.0,0.0],"sums":[0.0,0.0],"squares":[0.0,0.0]},"retired":[],"memory":null,"working":null,"stale":null}},"register":["a","b"],"book":{"open":{"rows":8,"key":["runs",[2,8]],"arm":["runs",[1,3],[0,3],[1,2]],"time":["runs",[1700000000.0,8]],"mark":["runs",["c02d3cffc20b187e",8]],"reward":[0.0,1.0,0.0,1.0,0.0,1.0,0.0,null],"metrics":["runs",[{"refund":0.0},7],[null,1]],"context":["runs",[null,8]],"candidate":["runs",[null,8]],"attributes":["runs",[null,8]],"chances":["runs",[[0.5,0.5],1],[null,7]]},"counted":[],"time":1700000000.0},"early":{"law":{"window":60.0,"arms":2,"prior":4.0,"alarm":null,"counted":{"head":[7253333333],"silent":[["runs",[0,85],[1,1],[0,171]],["runs",[0,85],[4,1],[0,171]]],"told":["runs",[0,85],[3,1],[0,171]],"successes":[2,1],"delays":["runs",[3,1],[0,255]],"complete":[["runs",[0,256]],["runs",[0,256]]],"watch":[0,0]}},"told":[[3,1700000000.0],[5,1700000000.0],[7,1700000000.0]]},"tally":{"arms":[{"asks":3,"told":0,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[]},{"asks":5,"told":0,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[]}],"told":0,"reward":0.0,"expired":0,"past_sum":0.0,"draws":{"stages":[[2,[0.5,0.5]]],"chances":[0.5,0.5],"counts":[3,5],"seen":[],"meant":[],"log_odds":0.0,"due":3},"log_odds":0.0,"clipped":0,"bets":{"arms":2,"control":0,"kind":"rate","low":0.0,"high":1.0,"outcomes":0.0,"moments":[0.0,0.0,0.0,0.0,0.0],"guesses":[[-1.0,0.0,1.0,0.0]],"latest":0.0,"wins":[["runs",[0.0,97]]],"capitals":[["runs",[0.0,97]]],"sums":[[0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]],"levels":[["runs",[0.0,98]],["runs",[0.0,98]]]},"course":{"width":1,"steps":[[1700000000,{"asks":[[1,5],[0,3]],"rewards":0,"total":0.0}]],"changes":[[1,1,1700000000.0,null,""]]},"metrics":{"names":["refund"],"sums":[]},"attribute_names":[]},"guards":{"capitals":[],"stopped":[],"limits":{"refund":"< 0.9"},"since":{}},"publishing":{"current":[],"overtaken":[]},"noticed":0,"shipped":null,"ships_itself":false,"paused":false,"catalogue":[]}',X'C02D3CFFC20B187EB288F156540002CDC8257D633C2B0654');
INSERT INTO "belman_snapshots" VALUES(2,16,'ce63073e7f6a1feb5e9a1a5b703fe27f
{"format":4,"number":16,"settings":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"priors":[],"clip":false,"minimise":false,"discount":1.0,"seed":7,"uniform_share":0.0,"accumulate":false,"early":false,"goal":"earn","then":"say"},"decider":{"kind":"independent","state":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"range":null,"minimise":false,"clip":false,"clipped":0,"discount":1.0,"time":0.0,"told":7,"tells":[4,3],"pending":[0,1],"priors":[[1.0,1.0],[1.0,1.0]],"truth":{"beliefs":[[2.0,4.0],[3.0,2.0]],"plays":[4.0,3.0],"sums":[1.0,2.0],"squares":[1.0,2.0]},"retired":[],"memory":null,"working":null,"stale":null}},"register":["a","b"],"book":{"open":{"rows":1,"key":[9],"arm":[1],"time":[1700000000.0],"mark":["8a203343f6f9ce5b"],"reward":[null],"metrics":[null],"context":[null],"candidate":[null],"attributes":[null],"chances":[null]},"counted":[],"time":1700000000.0},"early":null,"tally":{"arms":[{"asks":4,"told":4,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[[1,[1.0,0.0,[1.0,2.0],1700000000.0,2]],[2,[2.0,0.0,[1.0,3.0],1700000000.0,4]],[3,[4.0,1.0,[2.0,4.0],1700000000.0,8]]]},{"asks":4,"told":3,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[[1,[1.0,1.0,[2.0,1.0],1700000000.0,3]],[2,[2.0,2.0,[3.0,1.0],1700000000.0,5]]]}],"told":7,"reward":3.0,"expired":0,"past_sum":0.0,"draws":{"stages":[],"chances":[],"counts":[],"seen":[],"meant":[],"log_odds":0.0,"due":0},"log_odds":0.0,"clipped":0,"bets":null,"course":{"width":1,"steps":[[1700000000,{"asks":[[0,4],[1,4]],"rewards":7,"total":3.0}]],"changes":[[1,1,1700000000.0,null,""]]},"metrics":{"names":[],"sums":[]},"attribute_names":[]},"guards":{"capitals":[],"stopped":[],"limits":{},"since":{}},"publishing":{"current":[],"overtaken":[]},"noticed":0,"shipped":null,"ships_itself":false,"paused":false,"catalogue":[]}',X'8A203343F6F9CE5BCF61E500C5B80D5E1973AB6C0FEC4F98');
CREATE TABLE belman_studies (
            id INTEGER NOT NULL PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            secret TEXT NOT NULL,
            created FLOAT NOT NULL,
            last BIGINT NOT NULL,
            link BLOB NOT NULL,
            archived FLOAT
        );
INSERT INTO "belman_studies" VALUES(1,'sample','e42c55b9561f79174af93133ccdc9d1a',1700000000.0,1,X'0000000000000000E444DC35377D0A3030F22389C0D03460',NULL);
INSERT INTO "belman_studies" VALUES(2,'past','6235ebb2c1e22dc37a66f2b8c8b2eec2',1700000000.0,1,X'0000000000000000DBDC966B652736602063B5B046D0F17E',NULL);
CREATE TABLE belman_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY);
INSERT INTO "belman_version" VALUES('0001');
CREATE INDEX belman_events_ticket ON belman_events (ticket)
            WHERE ticket IS NOT NULL;
CREATE UNIQUE INDEX belman_events_keyed ON belman_events (study, key)
            WHERE key IS NOT NULL;
COMMIT;
