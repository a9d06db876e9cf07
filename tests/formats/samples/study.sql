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
INSERT INTO "belman_events" VALUES(1,1,1,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"arms": ["a", "b"], "family": {"name": "bernoulli", "prior": [1.0, 1.0]}, "policy": {"name": "belman", "exposure": {"name": "evidence", "gain": 2.25, "reach": 8.5, "pool": 5.0, "horizon": null}, "reading": "barycentre"}, "priors": [], "clip": false, "minimise": false, "discount": 1.0, "seed": 6, "uniform_share": 0.0, "window": 60.0, "silence": 0.0, "accumulate": false, "early": true, "control": "a", "goal": "both", "stop_when": {"name": "separated", "delta": 0.05, "within": 0.0}, "then": "say", "guard": {"refund": "< 0.9"}}',X'00000000000000003743BDCD18126AADE3ADC18EFE8F7474');
INSERT INTO "belman_events" VALUES(1,2,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,'{"shares": [0.5, 0.5]}',X'85E254552B32FDB4A54D6A71885D6127379850FA7A1F0A26');
INSERT INTO "belman_events" VALUES(1,3,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'85E254552B32FDB4531743607E680F8F1D59092EBF1A681A');
INSERT INTO "belman_events" VALUES(1,4,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'85E254552B32FDB4FDB8150963058B4DEBF23335879064B0');
INSERT INTO "belman_events" VALUES(1,5,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'85E254552B32FDB4C553EDFE8456884739F261B2C5034D03');
INSERT INTO "belman_events" VALUES(1,6,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'85E254552B32FDB4633526F0C5C52B3520B598D811EB36D4');
INSERT INTO "belman_events" VALUES(1,7,2,1700000000.0,0,1,0.5,NULL,NULL,NULL,NULL,X'85E254552B32FDB4BB739C9519090BEF0FF40182364363F8');
INSERT INTO "belman_events" VALUES(1,8,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'85E254552B32FDB434E9408CDEFBE97596044FE08B67C544');
INSERT INTO "belman_events" VALUES(1,9,2,1700000000.0,1,1,0.5,NULL,NULL,NULL,NULL,X'85E254552B32FDB4322687004910A48D6AECFE8708C56F83');
INSERT INTO "belman_events" VALUES(1,10,3,1700000000.0,1,NULL,NULL,2,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'85E254552B32FDB4BABE01E22388198C71A3771B8F639893');
INSERT INTO "belman_events" VALUES(1,11,3,1700000000.0,1,NULL,NULL,3,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'85E254552B32FDB40915322CD7CD9EE73D70FC86CE064FB1');
INSERT INTO "belman_events" VALUES(1,12,3,1700000000.0,1,NULL,NULL,4,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'85E254552B32FDB41F1623BA5F0425381DEAC7B42DA8F607');
INSERT INTO "belman_events" VALUES(1,13,3,1700000000.0,0,NULL,NULL,5,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'85E254552B32FDB4290AE611FEFEB3B45A274873EEDEB706');
INSERT INTO "belman_events" VALUES(1,14,3,1700000000.0,0,NULL,NULL,6,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'85E254552B32FDB41D1E4B6DF8630A1392782A4D66E6A9A6');
INSERT INTO "belman_events" VALUES(1,15,3,1700000000.0,0,NULL,NULL,7,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'85E254552B32FDB4A34D22080BDCF80A899C176B153359BB');
INSERT INTO "belman_events" VALUES(1,16,3,1700000000.0,1,NULL,NULL,8,0.0,NULL,'{"metrics": {"refund": 0.0}}',X'85E254552B32FDB46BAA7FBF4301412E14382BCE5268CDEB');
INSERT INTO "belman_events" VALUES(1,17,3,1700000000.0,1,NULL,NULL,9,1.0,NULL,'{"metrics": {"refund": 0.0}}',X'85E254552B32FDB4EDF5C0798AF30E0D79089B7210761CDC');
INSERT INTO "belman_events" VALUES(1,18,14,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": "", "weights": {"format": "belman-weights/1", "study": "sample", "version": 18, "salt": "a374964fc896ce1b", "arms": ["a", "b"], "cuts": [[2190777906, 0], [4294967296, 1]], "floors": [0.0, 0.0], "segment": null, "decisions": 100, "published": 1700000000.0, "valid_until": 1700086400.0, "weights": [0.5100802299566567, 0.4899197700433433]}, "plan": [100, 3600.0, 86400.0, "belman"]}',X'0000000000000000C87C03B12E63E8B0B6771A2B2B2FB95C');
INSERT INTO "belman_events" VALUES(1,19,15,1700000000.0,NULL,NULL,NULL,NULL,NULL,'rows:b6c1cdff7af7011e3002d460b39e3879/change','{"reason": "", "rows": 1, "groups": [], "arms": [], "patches": [], "assigned": [[1, 1]], "meant": [[0, 0.5100802299566567], [1, 0.4899197700433433]], "log_odds": -9.094947017729282e-13, "open": [[18, "unit-0", 1, 1.0, 1700000000.0, null, null, null]], "shares": [[18, [0.5100802299566567, 0.4899197700433433]]], "request": "4acd715b4212d1db"}',X'00000000000000000B72B01224346DFCD71CBC9FFA48A15A');
INSERT INTO "belman_events" VALUES(1,20,8,1700000000.0,2,NULL,NULL,NULL,NULL,NULL,'{"reason": "", "name": "c", "prior": [1.0, 1.0]}',X'0000000000000000B4DA63A0582E570EDA8C5A2172E55539');
INSERT INTO "belman_events" VALUES(1,21,6,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": "tea"}',X'000000000000000036A548E8A4E1408CBAAF0B75A22D62B1');
INSERT INTO "belman_events" VALUES(1,22,7,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"reason": ""}',X'00000000000000001952FD62D0759BBF4BD86962D7A60656');
INSERT INTO "belman_events" VALUES(2,1,1,1700000000.0,NULL,NULL,NULL,NULL,NULL,NULL,'{"arms": ["a", "b"], "family": {"name": "bernoulli", "prior": [1.0, 1.0]}, "policy": {"name": "belman", "exposure": {"name": "evidence", "gain": 2.25, "reach": 8.5, "pool": 5.0, "horizon": null}, "reading": "barycentre"}, "priors": [], "clip": false, "minimise": false, "discount": 1.0, "seed": 7, "uniform_share": 0.0, "accumulate": false, "early": false, "goal": "earn", "then": "say"}',X'000000000000000068289F6D3F4D09ED05BECC2DB56EF851');
INSERT INTO "belman_events" VALUES(2,2,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'A49A11398B635CD0527C3C2F5D7C5F7D2D82DAC7B2E0BEC4');
INSERT INTO "belman_events" VALUES(2,3,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'A49A11398B635CD07EC73C2CAF5752D10294F25EDBBB667D');
INSERT INTO "belman_events" VALUES(2,4,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'A49A11398B635CD088BB7D395016951144CD1A8638324114');
INSERT INTO "belman_events" VALUES(2,5,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'A49A11398B635CD0E96098BA2565418C6535C12DC33FEF17');
INSERT INTO "belman_events" VALUES(2,6,2,1700000000.0,1,0,0.5,NULL,NULL,NULL,NULL,X'A49A11398B635CD037CB76F17CDF727BBECCE24772F38404');
INSERT INTO "belman_events" VALUES(2,7,2,1700000000.0,0,0,1.0,NULL,NULL,NULL,NULL,X'A49A11398B635CD09651EFEC6B1EBEF076647927932CD5B7');
INSERT INTO "belman_events" VALUES(2,8,2,1700000000.0,0,0,0.5,NULL,NULL,NULL,NULL,X'A49A11398B635CD001EEB0444278BB0C36B524E789DE8ADB');
INSERT INTO "belman_events" VALUES(2,9,2,1700000000.0,1,0,1.0,NULL,NULL,NULL,NULL,X'A49A11398B635CD0C6AFB71672B881B8ACC4C5FF6EBE60BF');
INSERT INTO "belman_events" VALUES(2,10,3,1700000000.0,0,NULL,NULL,2,0.0,NULL,NULL,X'A49A11398B635CD044D3DE343056B7886B6353AB2329D118');
INSERT INTO "belman_events" VALUES(2,11,3,1700000000.0,1,NULL,NULL,3,1.0,NULL,NULL,X'A49A11398B635CD08B9FDDBED697D0BDBA1D5E418B9D152A');
INSERT INTO "belman_events" VALUES(2,12,3,1700000000.0,0,NULL,NULL,4,0.0,NULL,NULL,X'A49A11398B635CD055EC62D0B46E3155A8EAD3060862E108');
INSERT INTO "belman_events" VALUES(2,13,3,1700000000.0,1,NULL,NULL,5,1.0,NULL,NULL,X'A49A11398B635CD0A4FFDF30CE35E7E9A0D5CC537BC75740');
INSERT INTO "belman_events" VALUES(2,14,3,1700000000.0,1,NULL,NULL,6,0.0,NULL,NULL,X'A49A11398B635CD0717799E985CBAD82D19ABB12808FE9A6');
INSERT INTO "belman_events" VALUES(2,15,3,1700000000.0,0,NULL,NULL,7,1.0,NULL,NULL,X'A49A11398B635CD0419236318C717395C21C4974A4EB3C91');
INSERT INTO "belman_events" VALUES(2,16,3,1700000000.0,0,NULL,NULL,8,0.0,NULL,NULL,X'A49A11398B635CD0D3DC1F35FFA8DDDBF8CC2A3123B629ED');
INSERT INTO "belman_events" VALUES(2,17,3,1700000000.0,1,NULL,NULL,9,1.0,NULL,NULL,X'A49A11398B635CD03F48803BCD757BBF4868645B818DDA09');
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
INSERT INTO "belman_snapshots" VALUES(1,16,'7b82d8718f62e3f8697a27a05885eec5
{"format":4,"number":16,"settings":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":8.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"priors":[],"clip":false,"minimise":false,"discount":1.0,"seed":6,"uniform_share":0.0,"window":60.0,"silence":0.0,"accumulate":false,"early":true,"control":"a","goal":"both","stop_when":{"name":"separated","delta":0.05,"within":0.0},"then":"say","guard":{"refund":"< 0.9"}},"decider":{"kind":"independent","state":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":8.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"range":null,"minimise":false,"clip":false,"clipped":0,"discount":1.0,"time":0.0,"told":0,"tells":[0,0],"pending":[3,5],"priors":[[1.0,1.0],[1.0,1.0]],"truth":{"beliefs":[[1.0,1.0],[1.0,1.0]],"plays":[0.0,0.0],"sums":[0.0,0.0],"squares":[0.0,0.0]},"retired":[],"memory":null,"working":null,"stale":null}},"register":["a","b"],"book":{"open":{"rows":8,"key":["runs",[2,8]],"arm":["runs",[1,3],[0,3],[1,2]],"time":["runs",[1700000000.0,8]],"mark":["runs",["85e254552b32fdb4",8]],"reward":[0.0,1.0,0.0,1.0,0.0,1.0,0.0,null],"metrics":["runs",[{"refund":0.0},7],[null,1]],"context":["runs",[null,8]],"candidate":["runs",[null,8]],"attributes":["runs",[null,8]],"chances":["runs",[[0.5,0.5],1],[null,7]],"deferred":["runs",[false,8]]},"counted":[],"time":1700000000.0},"early":{"law":{"window":60.0,"arms":2,"prior":4.0,"alarm":null,"counted":{"head":[7253333333],"silent":[["runs",[0,85],[1,1],[0,171]],["runs",[0,85],[4,1],[0,171]]],"told":["runs",[0,85],[3,1],[0,171]],"successes":[2,1],"delays":["runs",[3,1],[0,255]],"complete":[["runs",[0,256]],["runs",[0,256]]],"watch":[0,0]}},"told":[[3,1700000000.0],[5,1700000000.0],[7,1700000000.0]]},"tally":{"arms":[{"asks":3,"told":0,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[]},{"asks":5,"told":0,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[]}],"told":0,"reward":0.0,"expired":0,"past_sum":0.0,"draws":{"stages":[[2,[0.5,0.5]]],"chances":[0.5,0.5],"counts":[3,5],"seen":[],"meant":[],"log_odds":0.0,"due":3},"log_odds":0.0,"clipped":0,"bets":{"arms":2,"control":0,"kind":"rate","low":0.0,"high":1.0,"outcomes":0.0,"moments":[0.0,0.0,0.0,0.0,0.0],"guesses":[[-1.0,0.0,1.0,0.0]],"latest":0.0,"wins":[["runs",[0.0,97]]],"capitals":[["runs",[0.0,97]]],"sums":[[0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]],"levels":[["runs",[0.0,98]],["runs",[0.0,98]]]},"course":{"width":1,"steps":[[1700000000,{"asks":[[1,5],[0,3]],"rewards":0,"total":0.0}]],"changes":[[1,1,1700000000.0,null,""]]},"metrics":{"names":["refund"],"sums":[]},"attribute_names":[]},"guards":{"capitals":[],"stopped":[],"limits":{"refund":"< 0.9"},"since":{}},"publishing":{"current":[],"overtaken":[]},"spending":null,"noticed":0,"shipped":null,"ships_itself":false,"paused":false,"catalogue":{"rows":[]}}',X'85E254552B32FDB46BAA7FBF4301412E14382BCE5268CDEB');
INSERT INTO "belman_snapshots" VALUES(2,16,'843250b8af25c25491346a4b71d30009
{"format":4,"number":16,"settings":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":8.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"priors":[],"clip":false,"minimise":false,"discount":1.0,"seed":7,"uniform_share":0.0,"accumulate":false,"early":false,"goal":"earn","then":"say"},"decider":{"kind":"independent","state":{"arms":["a","b"],"family":{"name":"bernoulli","prior":[1.0,1.0]},"policy":{"name":"belman","exposure":{"name":"evidence","gain":2.25,"reach":8.5,"pool":5.0,"horizon":null},"reading":"barycentre"},"range":null,"minimise":false,"clip":false,"clipped":0,"discount":1.0,"time":0.0,"told":7,"tells":[4,3],"pending":[0,1],"priors":[[1.0,1.0],[1.0,1.0]],"truth":{"beliefs":[[2.0,4.0],[3.0,2.0]],"plays":[4.0,3.0],"sums":[1.0,2.0],"squares":[1.0,2.0]},"retired":[],"memory":null,"working":null,"stale":null}},"register":["a","b"],"book":{"open":{"rows":1,"key":[9],"arm":[1],"time":[1700000000.0],"mark":["a49a11398b635cd0"],"reward":[null],"metrics":[null],"context":[null],"candidate":[null],"attributes":[null],"chances":[null],"deferred":[false]},"counted":[],"time":1700000000.0},"early":null,"tally":{"arms":[{"asks":4,"told":4,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[[1,[1.0,0.0,[1.0,2.0],1700000000.0,2]],[2,[2.0,0.0,[1.0,3.0],1700000000.0,4]],[3,[4.0,1.0,[2.0,4.0],1700000000.0,8]]]},{"asks":4,"told":3,"forgotten":0,"past":0,"observed":0,"assigned":0,"meant":0.0,"cuts":[[1,[1.0,1.0,[2.0,1.0],1700000000.0,3]],[2,[2.0,2.0,[3.0,1.0],1700000000.0,5]]]}],"told":7,"reward":3.0,"expired":0,"past_sum":0.0,"draws":{"stages":[],"chances":[],"counts":[],"seen":[],"meant":[],"log_odds":0.0,"due":0},"log_odds":0.0,"clipped":0,"bets":null,"course":{"width":1,"steps":[[1700000000,{"asks":[[0,4],[1,4]],"rewards":7,"total":3.0}]],"changes":[[1,1,1700000000.0,null,""]]},"metrics":{"names":[],"sums":[]},"attribute_names":[]},"guards":{"capitals":[],"stopped":[],"limits":{},"since":{}},"publishing":{"current":[],"overtaken":[]},"spending":null,"noticed":0,"shipped":null,"ships_itself":false,"paused":false,"catalogue":{"rows":[]}}',X'A49A11398B635CD0D3DC1F35FFA8DDDBF8CC2A3123B629ED');
CREATE TABLE belman_studies (
            id INTEGER NOT NULL PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            secret TEXT NOT NULL,
            created FLOAT NOT NULL,
            last BIGINT NOT NULL,
            link BLOB NOT NULL,
            archived FLOAT
        );
INSERT INTO "belman_studies" VALUES(1,'sample','8fff9689c64786dd35f8ef832dcc8e1d',1700000000.0,16,X'85E254552B32FDB46BAA7FBF4301412E14382BCE5268CDEB',NULL);
INSERT INTO "belman_studies" VALUES(2,'past','1750d430275a0f72c2a4dddcbcb61a46',1700000000.0,16,X'A49A11398B635CD0D3DC1F35FFA8DDDBF8CC2A3123B629ED',NULL);
CREATE TABLE belman_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY);
INSERT INTO "belman_version" VALUES('0001');
CREATE INDEX belman_events_ticket ON belman_events (ticket)
            WHERE ticket IS NOT NULL;
CREATE UNIQUE INDEX belman_events_keyed ON belman_events (study, key)
            WHERE key IS NOT NULL;
COMMIT;
