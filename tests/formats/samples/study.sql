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
INSERT INTO "belman_events" VALUES(1,2,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,'{"shares": [0.5, 0.5]}',X'341BED56195D2467DB85018509F92FAD3AA453E3DA026D1B');
INSERT INTO "belman_events" VALUES(1,3,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'341BED56195D24679B2EE2EEAA2DE8C3832B3B0ECE95A7C2');
INSERT INTO "belman_events" VALUES(1,4,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'341BED56195D24679A249DC58C1E695987935F8DF26B762C');
INSERT INTO "belman_events" VALUES(1,5,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'341BED56195D246736FAE9DCAB061AFB2C59CD687E1D88BD');
INSERT INTO "belman_events" VALUES(1,6,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'341BED56195D2467ABC04CF1FE4C1CB6899661FA37A83BC6');
INSERT INTO "belman_events" VALUES(1,7,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'341BED56195D2467B4291EACCEE52232EFBA30DAC288C997');
INSERT INTO "belman_events" VALUES(1,8,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'341BED56195D24672DC3F92BF214CFC6E94A7EC0F1645726');
INSERT INTO "belman_events" VALUES(1,9,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'341BED56195D246739F7FA926E1054172661D6376062CDD7');
INSERT INTO "belman_events" VALUES(1,10,3,1700000000.0,1,NULL,NULL,2,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'341BED56195D24678115D21FD70062D72D70FD03256BD4AE');
INSERT INTO "belman_events" VALUES(1,11,3,1700000000.0,1,NULL,NULL,3,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'341BED56195D24671A625136A4CD14198B3E2A4E9D4E1A10');
INSERT INTO "belman_events" VALUES(1,12,3,1700000000.0,1,NULL,NULL,4,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'341BED56195D246726535595E13C471CCE99C2F3BB83AF85');
INSERT INTO "belman_events" VALUES(1,13,3,1700000000.0,0,NULL,NULL,5,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'341BED56195D246764AE7607457CDA76C32A247C719CE8C4');
INSERT INTO "belman_events" VALUES(1,14,3,1700000000.0,0,NULL,NULL,6,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'341BED56195D246706B88C9170E48A5AC7560686CB5DD7EF');
INSERT INTO "belman_events" VALUES(1,15,3,1700000000.0,0,NULL,NULL,7,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'341BED56195D246737B7027DD1C63B742DD91CBBAA434EFF');
INSERT INTO "belman_events" VALUES(1,16,3,1700000000.0,1,NULL,NULL,8,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'341BED56195D2467672E8C2F47D0A40BCEEDF3C1D53AC7F9');
INSERT INTO "belman_events" VALUES(1,17,3,1700000000.0,1,NULL,NULL,9,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'341BED56195D24678D7FAB2243D51F1EB685F0C62D15A51A');
INSERT INTO "belman_events" VALUES(1,18,14,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": "", "weights": {"format": "belman-weights/1", "study": "sample", "version": 18, "salt": "aa1d5fc55ab882fe", "arms": ["a", "b"], "cuts": [[2190777934, 0], [4294967296, 1]], "floors": [0.0, 0.0], "segment": null, "decisions": 100, "published": 1700000000.0, "valid_until": 1700086400.0, "weights": [0.5100802364759147, 0.4899197635240853]}, "plan": [100, 3600.0, 86400.0]}',X'000000000000000058EBC5C34D49D4B97FD5354B8DF83D95');
INSERT INTO "belman_events" VALUES(1,19,15,1700000000.0,NULL,NULL,NULL,NULL,NULL,'rows:b6c1cdff7af7011e3002d460b39e3879/change','{"reason": "", "rows": 1, "groups": [], "arms": [], "patches": [], "assigned": [[1, 1]], "meant": [[0, 0.5100802364759147], [1, 0.4899197635240853]], "log_odds": -9.094947017729282e-13, "open": [[18, "unit-0", 1, 1.0, 1700000000.0, null]], "shares": [[18, [0.5100802364759147, 0.4899197635240853]]], "request": "4acd715b4212d1db"}',X'0000000000000000983F5AE22574E5851709AD96552F3959');
INSERT INTO "belman_events" VALUES(1,20,8,1700000000.0,2,NULL,NULL,NULL,NULL,NULL,'{"reason": "", "name": "c", "prior": [1.0, 1.0]}',X'0000000000000000CB2D5FB9DE4A746B22A1A76979E7DAA3');
INSERT INTO "belman_events" VALUES(1,21,6,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": "tea"}',X'0000000000000000DA20E42BD151E87D6F1EDDE34C62ED98');
INSERT INTO "belman_events" VALUES(1,22,7,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": ""}',X'00000000000000000308B7F6E0B79F7BDB14ABA513532EBE');
INSERT INTO "belman_events" VALUES(2,1,1,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"arms": ["a", "b"], "family": {"name": "bernoulli", "prior": [1.0, 1.0]}, "policy": {"name": "belman", "exposure": {"name": "evidence", "gain": 2.25, "reach": 7.5, "pool": 5.0, "horizon": null}, "reading": "barycentre"}, "priors": [], "clip": false, "minimise": false, "discount": 1.0, "seed": 7, "uniform_share": 0.0, "accumulate": false, "early": false, "goal": "earn", "then": "say"}',X'0000000000000000DBDC966B652736602063B5B046D0F17E');
INSERT INTO "belman_events" VALUES(2,2,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'96C5A367901E04EDBD8DECA451B3550C92ABD51E37560C28');
INSERT INTO "belman_events" VALUES(2,3,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'96C5A367901E04ED0CA2AA4C4B9233D19A359404BBC76ADE');
INSERT INTO "belman_events" VALUES(2,4,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'96C5A367901E04EDE4EA2B6D76075DC9459C68EEC1356FA0');
INSERT INTO "belman_events" VALUES(2,5,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'96C5A367901E04ED93008CDE7A104D6AA6ED2DE245986BA1');
INSERT INTO "belman_events" VALUES(2,6,2,1700000000.0,1,0,0.5,NULL,NULL,NULL,NULL,X'96C5A367901E04EDCE7E707AF5D373DFC46EC26BD05F712A');
INSERT INTO "belman_events" VALUES(2,7,2,1700000000.0,0,0,1.0,NULL,NULL,NULL,NULL,X'96C5A367901E04EDF095098C30414CDDECDA1F650923DCA9');
INSERT INTO "belman_events" VALUES(2,8,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'96C5A367901E04ED83A662DC28F25FE73B54A53D2A11BB4C');
INSERT INTO "belman_events" VALUES(2,9,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'96C5A367901E04ED17717B76F652DB642052C5F0DBBBEE5D');
INSERT INTO "belman_events" VALUES(2,10,3,1700000000.0,0,NULL,NULL,2,0.0,NULL,NULL,X'96C5A367901E04ED8A436F7355B3134C7662454FA5B3FD8F');
INSERT INTO "belman_events" VALUES(2,11,3,1700000000.0,1,NULL,NULL,3,1.0,NULL,NULL,X'96C5A367901E04EDC813979B76CEBB2C06EC5F753F53648D');
INSERT INTO "belman_events" VALUES(2,12,3,1700000000.0,0,NULL,NULL,4,0.0,NULL,NULL,X'96C5A367901E04EDF6C6CADC4FE6766E02555148982166B3');
INSERT INTO "belman_events" VALUES(2,13,3,1700000000.0,1,NULL,NULL,5,1.0,NULL,NULL,X'96C5A367901E04ED7481E2AFE3EE53C7824956A6D498F9DA');
INSERT INTO "belman_events" VALUES(2,14,3,1700000000.0,1,NULL,NULL,6,0.0,NULL,NULL,X'96C5A367901E04ED2694F35D8AB61B0DF1477C243D852518');
INSERT INTO "belman_events" VALUES(2,15,3,1700000000.0,0,NULL,NULL,7,1.0,NULL,NULL,X'96C5A367901E04ED0392EF2655DCCC5D2C188801300BF975');
INSERT INTO "belman_events" VALUES(2,16,3,1700000000.0,0,NULL,NULL,8,0.0,NULL,NULL,X'96C5A367901E04ED73D3C5E0A78196EBCC8C4F4E2A1BADD5');
INSERT INTO "belman_events" VALUES(2,17,3,1700000000.0,1,NULL,NULL,9,1.0,NULL,NULL,X'96C5A367901E04EDE3804185468C4436EC543C92D11F170A');
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
INSERT INTO "belman_snapshots" VALUES(1,16,'54e1cdaab679e500269c40501e59f0a2
{"format":4,"number":16,"settings":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"priors":[],"clip":false,"minimise":false,"discount":1.0,"seed":6,"uniform_share":0.0,"window":60.0,"silence":0.0,"accumulate":false,"early":true,"control":"a","goal":"both","stop_when":{"name":"separated","delta":0.05,"within":0.0},"then":"say","guard":{"refund":"< 0.9"}},"decider":{"kind":"independent","state":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"range":null,"minimise":false,"clip":false,"clipped":0,"discount":1.0,"time":0.0,"told":0,"tells":[0,0],"pending":[3,5],"priors":[[1.0,1.0],[1.0,1.0]],"truth":{"beliefs":[[1.0,1.0],[1.0,1.0]],"plays":[0.0,0.0],"sums":[0.0,0.0],"squares":[0.0,0.0]},"retired":[],"memory":null,"working":null,"stale":null}},"register":["a","b"],"book":{"open":{"rows":8,"key":["runs",[2,8]],"arm":["runs",[1,3],[0,3],[1,2]],"time":["runs",[1700000000.0,8]],"mark":["runs",["341bed56195d2467",8]],"reward":[0.0,1.0,0.0,1.0,0.0,1.0,0.0,null],"metrics":["runs",[{"refund":0.0},7],[null,1]],"context":["runs",[null,8]],"candidate":["runs",[null,8]],"attributes":["runs",[null,8]],"chances":["runs",[[0.5,0.5],1],[null,7]]},"counted":[],"time":1700000000.0},"early":{"law":{"window":60.0,"arms":2,"prior":4.0,"alarm":null,"counted":{"head":[7253333333],"silent":[["runs",[0,85],[1,1],[0,171]],["runs",[0,85],[4,1],[0,171]]],"told":["runs",[0,85],[3,1],[0,171]],"successes":[2,1],"delays":["runs",[3,1],[0,255]],"complete":[["runs",[0,256]],["runs",[0,256]]],"watch":[0,0]}},"told":[[3,1700000000.0],[5,1700000000.0],[7,1700000000.0]]},"tally":{"arms":[{"asks":3,"told":0,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[]},{"asks":5,"told":0,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[]}],"told":0,"reward":0.0,"expired":0,"past_sum":0.0,"draws":{"stages":[[2,[0.5,0.5]]],"chances":[0.5,0.5],"counts":[3,5],"seen":[],"meant":[],"log_odds":0.0,"due":3},"log_odds":0.0,"clipped":0,"bets":{"arms":2,"control":0,"kind":"rate","low":0.0,"high":1.0,"outcomes":0.0,"moments":[0.0,0.0,0.0,0.0,0.0],"guesses":[[-1.0,0.0,1.0,0.0]],"latest":0.0,"wins":[["runs",[0.0,97]]],"capitals":[["runs",[0.0,97]]],"sums":[[0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]],"levels":[["runs",[0.0,98]],["runs",[0.0,98]]]},"course":{"width":1,"steps":[[1700000000,{"asks":[[1,5],[0,3]],"rewards":0,"total":0.0}]],"changes":[[1,1,1700000000.0,null,""]]},"metrics":{"names":["refund"],"sums":[]},"attribute_names":[]},"guards":{"capitals":[],"stopped":[],"limits":{"refund":"< 0.9"},"since":{}},"publishing":{"current":[],"overtaken":[]},"noticed":0,"shipped":null,"ships_itself":false,"paused":false,"catalogue":{"rows":[]}}',X'341BED56195D2467672E8C2F47D0A40BCEEDF3C1D53AC7F9');
INSERT INTO "belman_snapshots" VALUES(2,16,'f827f33c65d0d7b083a651a4a9857702
{"format":4,"number":16,"settings":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"priors":[],"clip":false,"minimise":false,"discount":1.0,"seed":7,"uniform_share":0.0,"accumulate":false,"early":false,"goal":"earn","then":"say"},"decider":{"kind":"independent","state":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"range":null,"minimise":false,"clip":false,"clipped":0,"discount":1.0,"time":0.0,"told":7,"tells":[4,3],"pending":[0,1],"priors":[[1.0,1.0],[1.0,1.0]],"truth":{"beliefs":[[2.0,4.0],[3.0,2.0]],"plays":[4.0,3.0],"sums":[1.0,2.0],"squares":[1.0,2.0]},"retired":[],"memory":null,"working":null,"stale":null}},"register":["a","b"],"book":{"open":{"rows":1,"key":[9],"arm":[1],"time":[1700000000.0],"mark":["96c5a367901e04ed"],"reward":[null],"metrics":[null],"context":[null],"candidate":[null],"attributes":[null],"chances":[null]},"counted":[],"time":1700000000.0},"early":null,"tally":{"arms":[{"asks":4,"told":4,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[[1,[1.0,0.0,[1.0,2.0],1700000000.0,2]],[2,[2.0,0.0,[1.0,3.0],1700000000.0,4]],[3,[4.0,1.0,[2.0,4.0],1700000000.0,8]]]},{"asks":4,"told":3,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[[1,[1.0,1.0,[2.0,1.0],1700000000.0,3]],[2,[2.0,2.0,[3.0,1.0],1700000000.0,5]]]}],"told":7,"reward":3.0,"expired":0,"past_sum":0.0,"draws":{"stages":[],"chances":[],"counts":[],"seen":[],"meant":[],"log_odds":0.0,"due":0},"log_odds":0.0,"clipped":0,"bets":null,"course":{"width":1,"steps":[[1700000000,{"asks":[[0,4],[1,4]],"rewards":7,"total":3.0}]],"changes":[[1,1,1700000000.0,null,""]]},"metrics":{"names":[],"sums":[]},"attribute_names":[]},"guards":{"capitals":[],"stopped":[],"limits":{},"since":{}},"publishing":{"current":[],"overtaken":[]},"noticed":0,"shipped":null,"ships_itself":false,"paused":false,"catalogue":{"rows":[]}}',X'96C5A367901E04ED73D3C5E0A78196EBCC8C4F4E2A1BADD5');
CREATE TABLE belman_studies (
            id INTEGER NOT NULL PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            secret TEXT NOT NULL,
            created FLOAT NOT NULL,
            last BIGINT NOT NULL,
            link BLOB NOT NULL,
            archived FLOAT
        );
INSERT INTO "belman_studies" VALUES(1,'sample','43c5ca787ff15ca38e87608899a59685',1700000000.0,1,X'0000000000000000E444DC35377D0A3030F22389C0D03460',NULL);
INSERT INTO "belman_studies" VALUES(2,'past','b6b3ee679ae56d66edde9d37d1b4e5b6',1700000000.0,1,X'0000000000000000DBDC966B652736602063B5B046D0F17E',NULL);
CREATE TABLE belman_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY);
INSERT INTO "belman_version" VALUES('0001');
CREATE INDEX belman_events_ticket ON belman_events (ticket)
            WHERE ticket IS NOT NULL;
CREATE UNIQUE INDEX belman_events_keyed ON belman_events (study, key)
            WHERE key IS NOT NULL;
COMMIT;
