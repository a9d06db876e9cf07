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
INSERT INTO "belman_events" VALUES(1,2,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,'{"shares": [0.5, 0.5]}',X'ABD770EF058A63CF6E3EA798849F92A5D59697E0C78F070D');
INSERT INTO "belman_events" VALUES(1,3,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'ABD770EF058A63CFB550B270F0A6017B6EF226E2E9C7AC85');
INSERT INTO "belman_events" VALUES(1,4,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'ABD770EF058A63CFC60CC4D2DFAE8C037783D223E284F0F5');
INSERT INTO "belman_events" VALUES(1,5,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'ABD770EF058A63CF6BD0C3C66C4464AABA597510911ABC09');
INSERT INTO "belman_events" VALUES(1,6,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'ABD770EF058A63CF8FE3D1701B4C98044AB08981B43E45AC');
INSERT INTO "belman_events" VALUES(1,7,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'ABD770EF058A63CF9F3F33DE853EFBE8D0D0C3EB5A2245B9');
INSERT INTO "belman_events" VALUES(1,8,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'ABD770EF058A63CFCFE1CBD49ABAFEBF29E7CC24CE3E100F');
INSERT INTO "belman_events" VALUES(1,9,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'ABD770EF058A63CFD769825323159245DD7C543BCD6CDFE6');
INSERT INTO "belman_events" VALUES(1,10,3,1700000000.0,1,NULL,NULL,2,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'ABD770EF058A63CFF6747589A53F499D611978C716E44790');
INSERT INTO "belman_events" VALUES(1,11,3,1700000000.0,1,NULL,NULL,3,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'ABD770EF058A63CF63BA85DC034551323D60D407320C722E');
INSERT INTO "belman_events" VALUES(1,12,3,1700000000.0,1,NULL,NULL,4,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'ABD770EF058A63CFA5ABBB8E1A7C879021E148CAFA496D35');
INSERT INTO "belman_events" VALUES(1,13,3,1700000000.0,0,NULL,NULL,5,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'ABD770EF058A63CF5A401BB1C17FDB47F5E0577783B3F3D7');
INSERT INTO "belman_events" VALUES(1,14,3,1700000000.0,0,NULL,NULL,6,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'ABD770EF058A63CF241D08B0C876576DF97A9DB3F71AB4FA');
INSERT INTO "belman_events" VALUES(1,15,3,1700000000.0,0,NULL,NULL,7,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'ABD770EF058A63CFA67D112CB4A999915287241DE00CEC9A');
INSERT INTO "belman_events" VALUES(1,16,3,1700000000.0,1,NULL,NULL,8,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'ABD770EF058A63CF81677249369058E18A769B6DB3873205');
INSERT INTO "belman_events" VALUES(1,17,3,1700000000.0,1,NULL,NULL,9,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'ABD770EF058A63CF2A1FA98219C06FF8658507A4ED2A7043');
INSERT INTO "belman_events" VALUES(1,18,14,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": "", "weights": {"format": "belman-weights/1", "study": "sample", "version": 18, "salt": "8039d23c075c3dd1", "arms": ["a", "b"], "cuts": [[2190777934, 0], [4294967296, 1]], "floors": [0.0, 0.0], "segment": null, "decisions": 100, "published": 1700000000.0, "valid_until": 1700086400.0, "weights": [0.5100802364759147, 0.4899197635240853]}, "plan": [100, 3600.0, 86400.0]}',X'00000000000000001197DA67D1B3F819C81639D367563374');
INSERT INTO "belman_events" VALUES(1,19,15,1700000000.0,NULL,NULL,NULL,NULL,NULL,'rows:39317f0588cb78e7c6d52220c7bb6d66/change','{"reason": "", "rows": 1, "groups": [], "arms": [], "patches": [], "assigned": [[0, 1]], "meant": [[0, 0.5100802364759147], [1, 0.4899197635240853]], "log_odds": -9.094947017729282e-13, "open": [[18, "unit-0", 0, 1.0, 1700000000.0, null, null, null]], "shares": [[18, [0.5100802364759147, 0.4899197635240853]]], "request": "10b4f4db3a58f161"}',X'0000000000000000002CD99369FD221FC02020CD920D37D2');
INSERT INTO "belman_events" VALUES(1,20,8,1700000000.0,2,NULL,NULL,NULL,NULL,NULL,'{"reason": "", "name": "c", "prior": [1.0, 1.0]}',X'00000000000000004BC0FB8D158ECCAEDF1A7723026FF140');
INSERT INTO "belman_events" VALUES(1,21,6,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": "tea"}',X'0000000000000000E7241351F856C3394AA7100443B07C5B');
INSERT INTO "belman_events" VALUES(1,22,7,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": ""}',X'0000000000000000B14099C9BA181A82D910FC84C3496A74');
INSERT INTO "belman_events" VALUES(2,1,1,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"arms": ["a", "b"], "family": {"name": "bernoulli", "prior": [1.0, 1.0]}, "policy": {"name": "belman", "exposure": {"name": "evidence", "gain": 2.25, "reach": 7.5, "pool": 5.0, "horizon": null}, "reading": "barycentre"}, "priors": [], "clip": false, "minimise": false, "discount": 1.0, "seed": 7, "uniform_share": 0.0, "accumulate": false, "early": false, "goal": "earn", "then": "say"}',X'0000000000000000DBDC966B652736602063B5B046D0F17E');
INSERT INTO "belman_events" VALUES(2,2,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'AEFB7B8A83DA87F6605B9F763B9FCF225E10BCE4AB34ADB0');
INSERT INTO "belman_events" VALUES(2,3,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'AEFB7B8A83DA87F615006CC6CF1AF163C3A8D9557C8D7C1A');
INSERT INTO "belman_events" VALUES(2,4,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'AEFB7B8A83DA87F61494F365D30ECA653795F7E4F95BF50F');
INSERT INTO "belman_events" VALUES(2,5,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'AEFB7B8A83DA87F6DC2A81F0A2E36B43ABC9CA019E9746D1');
INSERT INTO "belman_events" VALUES(2,6,2,1700000000.0,1,0,0.5,NULL,NULL,NULL,NULL,X'AEFB7B8A83DA87F6A2EE1A8325527910F7133EF95C0D0A2C');
INSERT INTO "belman_events" VALUES(2,7,2,1700000000.0,0,0,1.0,NULL,NULL,NULL,NULL,X'AEFB7B8A83DA87F6444E61A619D6C4EE7398D4C45F8EB200');
INSERT INTO "belman_events" VALUES(2,8,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'AEFB7B8A83DA87F6DA80C26012C5F48CA60BE11451F780A7');
INSERT INTO "belman_events" VALUES(2,9,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'AEFB7B8A83DA87F6DC964D8657AF172D39BFB72BE0C0D013');
INSERT INTO "belman_events" VALUES(2,10,3,1700000000.0,0,NULL,NULL,2,0.0,NULL,NULL,X'AEFB7B8A83DA87F61B5C363F54AB8E13D2D90E41098BE2E3');
INSERT INTO "belman_events" VALUES(2,11,3,1700000000.0,1,NULL,NULL,3,1.0,NULL,NULL,X'AEFB7B8A83DA87F679E534639125CCD13EE9CE0B83A2D772');
INSERT INTO "belman_events" VALUES(2,12,3,1700000000.0,0,NULL,NULL,4,0.0,NULL,NULL,X'AEFB7B8A83DA87F6165D4B5CA1119B5C0182AF0C9ECC1E0B');
INSERT INTO "belman_events" VALUES(2,13,3,1700000000.0,1,NULL,NULL,5,1.0,NULL,NULL,X'AEFB7B8A83DA87F6D70CBD43431DA8F6627E7FEE1E3D95E7');
INSERT INTO "belman_events" VALUES(2,14,3,1700000000.0,1,NULL,NULL,6,0.0,NULL,NULL,X'AEFB7B8A83DA87F627C83A1F2D3FF73ACD5F5868695C5B5E');
INSERT INTO "belman_events" VALUES(2,15,3,1700000000.0,0,NULL,NULL,7,1.0,NULL,NULL,X'AEFB7B8A83DA87F660D4BC1B07A68B860AD07A5FE4E27245');
INSERT INTO "belman_events" VALUES(2,16,3,1700000000.0,0,NULL,NULL,8,0.0,NULL,NULL,X'AEFB7B8A83DA87F6B8E62A1CDB71776C7DA1FA317DA4C225');
INSERT INTO "belman_events" VALUES(2,17,3,1700000000.0,1,NULL,NULL,9,1.0,NULL,NULL,X'AEFB7B8A83DA87F69B4ECC6BDACA7CAD49623E003AA73334');
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
INSERT INTO "belman_snapshots" VALUES(1,16,'397287f0ce4b6d1f09c07f6b6c27e14c
{"format":4,"number":16,"settings":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"priors":[],"clip":false,"minimise":false,"discount":1.0,"seed":6,"uniform_share":0.0,"window":60.0,"silence":0.0,"accumulate":false,"early":true,"control":"a","goal":"both","stop_when":{"name":"separated","delta":0.05,"within":0.0},"then":"say","guard":{"refund":"< 0.9"}},"decider":{"kind":"independent","state":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"range":null,"minimise":false,"clip":false,"clipped":0,"discount":1.0,"time":0.0,"told":0,"tells":[0,0],"pending":[3,5],"priors":[[1.0,1.0],[1.0,1.0]],"truth":{"beliefs":[[1.0,1.0],[1.0,1.0]],"plays":[0.0,0.0],"sums":[0.0,0.0],"squares":[0.0,0.0]},"retired":[],"memory":null,"working":null,"stale":null}},"register":["a","b"],"book":{"open":{"rows":8,"key":["runs",[2,8]],"arm":["runs",[1,3],[0,3],[1,2]],"time":["runs",[1700000000.0,8]],"mark":["runs",["abd770ef058a63cf",8]],"reward":[0.0,1.0,0.0,1.0,0.0,1.0,0.0,null],"metrics":["runs",[{"refund":0.0},7],[null,1]],"context":["runs",[null,8]],"candidate":["runs",[null,8]],"attributes":["runs",[null,8]],"chances":["runs",[[0.5,0.5],1],[null,7]]},"counted":[],"time":1700000000.0},"early":{"law":{"window":60.0,"arms":2,"prior":4.0,"alarm":null,"counted":{"head":[7253333333],"silent":[["runs",[0,85],[1,1],[0,171]],["runs",[0,85],[4,1],[0,171]]],"told":["runs",[0,85],[3,1],[0,171]],"successes":[2,1],"delays":["runs",[3,1],[0,255]],"complete":[["runs",[0,256]],["runs",[0,256]]],"watch":[0,0]}},"told":[[3,1700000000.0],[5,1700000000.0],[7,1700000000.0]]},"tally":{"arms":[{"asks":3,"told":0,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[]},{"asks":5,"told":0,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[]}],"told":0,"reward":0.0,"expired":0,"past_sum":0.0,"draws":{"stages":[[2,[0.5,0.5]]],"chances":[0.5,0.5],"counts":[3,5],"seen":[],"meant":[],"log_odds":0.0,"due":3},"log_odds":0.0,"clipped":0,"bets":{"arms":2,"control":0,"kind":"rate","low":0.0,"high":1.0,"outcomes":0.0,"moments":[0.0,0.0,0.0,0.0,0.0],"guesses":[[-1.0,0.0,1.0,0.0]],"latest":0.0,"wins":[["runs",[0.0,97]]],"capitals":[["runs",[0.0,97]]],"sums":[[0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]],"levels":[["runs",[0.0,98]],["runs",[0.0,98]]]},"course":{"width":1,"steps":[[1700000000,{"asks":[[1,5],[0,3]],"rewards":0,"total":0.0}]],"changes":[[1,1,1700000000.0,null,""]]},"metrics":{"names":["refund"],"sums":[]},"attribute_names":[]},"guards":{"capitals":[],"stopped":[],"limits":{"refund":"< 0.9"},"since":{}},"publishing":{"current":[],"overtaken":[]},"noticed":0,"shipped":null,"ships_itself":false,"paused":false,"catalogue":{"rows":[]}}',X'ABD770EF058A63CF81677249369058E18A769B6DB3873205');
INSERT INTO "belman_snapshots" VALUES(2,16,'42a183965fee005778afa654d51cb3f3
{"format":4,"number":16,"settings":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"priors":[],"clip":false,"minimise":false,"discount":1.0,"seed":7,"uniform_share":0.0,"accumulate":false,"early":false,"goal":"earn","then":"say"},"decider":{"kind":"independent","state":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":7.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"range":null,"minimise":false,"clip":false,"clipped":0,"discount":1.0,"time":0.0,"told":7,"tells":[4,3],"pending":[0,1],"priors":[[1.0,1.0],[1.0,1.0]],"truth":{"beliefs":[[2.0,4.0],[3.0,2.0]],"plays":[4.0,3.0],"sums":[1.0,2.0],"squares":[1.0,2.0]},"retired":[],"memory":null,"working":null,"stale":null}},"register":["a","b"],"book":{"open":{"rows":1,"key":[9],"arm":[1],"time":[1700000000.0],"mark":["aefb7b8a83da87f6"],"reward":[null],"metrics":[null],"context":[null],"candidate":[null],"attributes":[null],"chances":[null]},"counted":[],"time":1700000000.0},"early":null,"tally":{"arms":[{"asks":4,"told":4,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[[1,[1.0,0.0,[1.0,2.0],1700000000.0,2]],[2,[2.0,0.0,[1.0,3.0],1700000000.0,4]],[3,[4.0,1.0,[2.0,4.0],1700000000.0,8]]]},{"asks":4,"told":3,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[[1,[1.0,1.0,[2.0,1.0],1700000000.0,3]],[2,[2.0,2.0,[3.0,1.0],1700000000.0,5]]]}],"told":7,"reward":3.0,"expired":0,"past_sum":0.0,"draws":{"stages":[],"chances":[],"counts":[],"seen":[],"meant":[],"log_odds":0.0,"due":0},"log_odds":0.0,"clipped":0,"bets":null,"course":{"width":1,"steps":[[1700000000,{"asks":[[0,4],[1,4]],"rewards":7,"total":3.0}]],"changes":[[1,1,1700000000.0,null,""]]},"metrics":{"names":[],"sums":[]},"attribute_names":[]},"guards":{"capitals":[],"stopped":[],"limits":{},"since":{}},"publishing":{"current":[],"overtaken":[]},"noticed":0,"shipped":null,"ships_itself":false,"paused":false,"catalogue":{"rows":[]}}',X'AEFB7B8A83DA87F6B8E62A1CDB71776C7DA1FA317DA4C225');
CREATE TABLE belman_studies (
            id INTEGER NOT NULL PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            secret TEXT NOT NULL,
            created FLOAT NOT NULL,
            last BIGINT NOT NULL,
            link BLOB NOT NULL,
            archived FLOAT
        );
INSERT INTO "belman_studies" VALUES(1,'sample','14e4f3b9061989baa0a189d51f04e57b',1700000000.0,16,X'ABD770EF058A63CF81677249369058E18A769B6DB3873205',NULL);
INSERT INTO "belman_studies" VALUES(2,'past','52f45bd46f06e4d7f66a5437af4d1222',1700000000.0,16,X'AEFB7B8A83DA87F6B8E62A1CDB71776C7DA1FA317DA4C225',NULL);
CREATE TABLE belman_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY);
INSERT INTO "belman_version" VALUES('0001');
CREATE INDEX belman_events_ticket ON belman_events (ticket)
            WHERE ticket IS NOT NULL;
CREATE UNIQUE INDEX belman_events_keyed ON belman_events (study, key)
            WHERE key IS NOT NULL;
COMMIT;
