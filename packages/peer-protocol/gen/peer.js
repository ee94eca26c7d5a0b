/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

const $root = $protobuf.roots["zooid-peer"] || ($protobuf.roots["zooid-peer"] = {});

export const zooid = $root.zooid = (() => {

    const zooid = {};

    zooid.Envelope = (function() {

        const Envelope = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Envelope.prototype.hello = null;
        Envelope.prototype.authProof = null;
        Envelope.prototype.linkRefuse = null;
        Envelope.prototype.heartbeat = null;
        Envelope.prototype.notification = null;
        Envelope.prototype.poll = null;
        Envelope.prototype.pollAnswer = null;
        Envelope.prototype.learnerInfo = null;
        Envelope.prototype.leaderInfo = null;
        Envelope.prototype.ackEpoch = null;
        Envelope.prototype.syncBegin = null;
        Envelope.prototype.snapshotChunk = null;
        Envelope.prototype.snapshotCredit = null;
        Envelope.prototype.entries = null;
        Envelope.prototype.staged = null;
        Envelope.prototype.newLeader = null;
        Envelope.prototype.ackNewLeader = null;
        Envelope.prototype.upToDate = null;
        Envelope.prototype.ack = null;
        Envelope.prototype.commit = null;
        Envelope.prototype.ping = null;
        Envelope.prototype.pong = null;
        Envelope.prototype.leadershipTransfer = null;
        Envelope.prototype.refuse = null;
        Envelope.prototype.identities = null;
        Envelope.prototype.forward = null;
        Envelope.prototype.openSession = null;
        Envelope.prototype.revalidate = null;
        Envelope.prototype.revalidated = null;
        Envelope.prototype.sync = null;
        Envelope.prototype.syncReply = null;
        Envelope.prototype.relayTo = null;
        Envelope.prototype.relayReady = null;
        Envelope.prototype.relayOpen = null;
        Envelope.prototype.relayClose = null;
        Envelope.prototype.relayBytes = null;
        Envelope.prototype.relayRun = null;

        let $oneOfFields;

        $Object.defineProperty(Envelope.prototype, "body", {
            get: $util.oneOfGetter($oneOfFields = ["hello", "authProof", "linkRefuse", "heartbeat", "notification", "poll", "pollAnswer", "learnerInfo", "leaderInfo", "ackEpoch", "syncBegin", "snapshotChunk", "snapshotCredit", "entries", "staged", "newLeader", "ackNewLeader", "upToDate", "ack", "commit", "ping", "pong", "leadershipTransfer", "refuse", "identities", "forward", "openSession", "revalidate", "revalidated", "sync", "syncReply", "relayTo", "relayReady", "relayOpen", "relayClose", "relayBytes", "relayRun"]),
            set: $util.oneOfSetter($oneOfFields)
        });

        Envelope.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.hello != null && $Object.hasOwnProperty.call(message, "hello"))
                $root.zooid.Hello.encode(message.hello, writer.uint32(10).fork(), _depth + 1).ldelim();
            if (message.authProof != null && $Object.hasOwnProperty.call(message, "authProof"))
                $root.zooid.AuthProof.encode(message.authProof, writer.uint32(18).fork(), _depth + 1).ldelim();
            if (message.linkRefuse != null && $Object.hasOwnProperty.call(message, "linkRefuse"))
                $root.zooid.LinkRefuse.encode(message.linkRefuse, writer.uint32(26).fork(), _depth + 1).ldelim();
            if (message.heartbeat != null && $Object.hasOwnProperty.call(message, "heartbeat"))
                $root.zooid.Heartbeat.encode(message.heartbeat, writer.uint32(34).fork(), _depth + 1).ldelim();
            if (message.notification != null && $Object.hasOwnProperty.call(message, "notification"))
                $root.zooid.Notification.encode(message.notification, writer.uint32(82).fork(), _depth + 1).ldelim();
            if (message.poll != null && $Object.hasOwnProperty.call(message, "poll"))
                $root.zooid.Poll.encode(message.poll, writer.uint32(90).fork(), _depth + 1).ldelim();
            if (message.pollAnswer != null && $Object.hasOwnProperty.call(message, "pollAnswer"))
                $root.zooid.PollAnswer.encode(message.pollAnswer, writer.uint32(98).fork(), _depth + 1).ldelim();
            if (message.learnerInfo != null && $Object.hasOwnProperty.call(message, "learnerInfo"))
                $root.zooid.LearnerInfo.encode(message.learnerInfo, writer.uint32(162).fork(), _depth + 1).ldelim();
            if (message.leaderInfo != null && $Object.hasOwnProperty.call(message, "leaderInfo"))
                $root.zooid.LeaderInfo.encode(message.leaderInfo, writer.uint32(170).fork(), _depth + 1).ldelim();
            if (message.ackEpoch != null && $Object.hasOwnProperty.call(message, "ackEpoch"))
                $root.zooid.AckEpoch.encode(message.ackEpoch, writer.uint32(178).fork(), _depth + 1).ldelim();
            if (message.syncBegin != null && $Object.hasOwnProperty.call(message, "syncBegin"))
                $root.zooid.SyncBegin.encode(message.syncBegin, writer.uint32(242).fork(), _depth + 1).ldelim();
            if (message.snapshotChunk != null && $Object.hasOwnProperty.call(message, "snapshotChunk"))
                $root.zooid.SnapshotChunk.encode(message.snapshotChunk, writer.uint32(250).fork(), _depth + 1).ldelim();
            if (message.snapshotCredit != null && $Object.hasOwnProperty.call(message, "snapshotCredit"))
                $root.zooid.SnapshotCredit.encode(message.snapshotCredit, writer.uint32(258).fork(), _depth + 1).ldelim();
            if (message.entries != null && $Object.hasOwnProperty.call(message, "entries"))
                $root.zooid.Entries.encode(message.entries, writer.uint32(266).fork(), _depth + 1).ldelim();
            if (message.staged != null && $Object.hasOwnProperty.call(message, "staged"))
                $root.zooid.Staged.encode(message.staged, writer.uint32(274).fork(), _depth + 1).ldelim();
            if (message.newLeader != null && $Object.hasOwnProperty.call(message, "newLeader"))
                $root.zooid.NewLeader.encode(message.newLeader, writer.uint32(282).fork(), _depth + 1).ldelim();
            if (message.ackNewLeader != null && $Object.hasOwnProperty.call(message, "ackNewLeader"))
                $root.zooid.AckNewLeader.encode(message.ackNewLeader, writer.uint32(290).fork(), _depth + 1).ldelim();
            if (message.upToDate != null && $Object.hasOwnProperty.call(message, "upToDate"))
                $root.zooid.UpToDate.encode(message.upToDate, writer.uint32(298).fork(), _depth + 1).ldelim();
            if (message.ack != null && $Object.hasOwnProperty.call(message, "ack"))
                $root.zooid.Ack.encode(message.ack, writer.uint32(322).fork(), _depth + 1).ldelim();
            if (message.commit != null && $Object.hasOwnProperty.call(message, "commit"))
                $root.zooid.Commit.encode(message.commit, writer.uint32(330).fork(), _depth + 1).ldelim();
            if (message.ping != null && $Object.hasOwnProperty.call(message, "ping"))
                $root.zooid.Ping.encode(message.ping, writer.uint32(338).fork(), _depth + 1).ldelim();
            if (message.pong != null && $Object.hasOwnProperty.call(message, "pong"))
                $root.zooid.Pong.encode(message.pong, writer.uint32(346).fork(), _depth + 1).ldelim();
            if (message.leadershipTransfer != null && $Object.hasOwnProperty.call(message, "leadershipTransfer"))
                $root.zooid.LeadershipTransfer.encode(message.leadershipTransfer, writer.uint32(354).fork(), _depth + 1).ldelim();
            if (message.refuse != null && $Object.hasOwnProperty.call(message, "refuse"))
                $root.zooid.Refuse.encode(message.refuse, writer.uint32(362).fork(), _depth + 1).ldelim();
            if (message.identities != null && $Object.hasOwnProperty.call(message, "identities"))
                $root.zooid.Identities.encode(message.identities, writer.uint32(402).fork(), _depth + 1).ldelim();
            if (message.forward != null && $Object.hasOwnProperty.call(message, "forward"))
                $root.zooid.Forward.encode(message.forward, writer.uint32(410).fork(), _depth + 1).ldelim();
            if (message.openSession != null && $Object.hasOwnProperty.call(message, "openSession"))
                $root.zooid.OpenSession.encode(message.openSession, writer.uint32(418).fork(), _depth + 1).ldelim();
            if (message.revalidate != null && $Object.hasOwnProperty.call(message, "revalidate"))
                $root.zooid.Revalidate.encode(message.revalidate, writer.uint32(426).fork(), _depth + 1).ldelim();
            if (message.revalidated != null && $Object.hasOwnProperty.call(message, "revalidated"))
                $root.zooid.Revalidated.encode(message.revalidated, writer.uint32(434).fork(), _depth + 1).ldelim();
            if (message.sync != null && $Object.hasOwnProperty.call(message, "sync"))
                $root.zooid.Sync.encode(message.sync, writer.uint32(442).fork(), _depth + 1).ldelim();
            if (message.syncReply != null && $Object.hasOwnProperty.call(message, "syncReply"))
                $root.zooid.SyncReply.encode(message.syncReply, writer.uint32(450).fork(), _depth + 1).ldelim();
            if (message.relayTo != null && $Object.hasOwnProperty.call(message, "relayTo"))
                $root.zooid.RelayTo.encode(message.relayTo, writer.uint32(482).fork(), _depth + 1).ldelim();
            if (message.relayReady != null && $Object.hasOwnProperty.call(message, "relayReady"))
                $root.zooid.RelayReady.encode(message.relayReady, writer.uint32(490).fork(), _depth + 1).ldelim();
            if (message.relayOpen != null && $Object.hasOwnProperty.call(message, "relayOpen"))
                $root.zooid.RelayOpen.encode(message.relayOpen, writer.uint32(498).fork(), _depth + 1).ldelim();
            if (message.relayClose != null && $Object.hasOwnProperty.call(message, "relayClose"))
                $root.zooid.RelayClose.encode(message.relayClose, writer.uint32(506).fork(), _depth + 1).ldelim();
            if (message.relayBytes != null && $Object.hasOwnProperty.call(message, "relayBytes"))
                $root.zooid.RelayBytes.encode(message.relayBytes, writer.uint32(514).fork(), _depth + 1).ldelim();
            if (message.relayRun != null && $Object.hasOwnProperty.call(message, "relayRun"))
                $root.zooid.RelayRun.encode(message.relayRun, writer.uint32(522).fork(), _depth + 1).ldelim();
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Envelope.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Envelope();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 2)
                            break;
                        message.hello = $root.zooid.Hello.decode(reader, reader.size(), $undefined, _depth + 1, message.hello);
                        message.body = "hello";
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        message.authProof = $root.zooid.AuthProof.decode(reader, reader.size(), $undefined, _depth + 1, message.authProof);
                        message.body = "authProof";
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        message.linkRefuse = $root.zooid.LinkRefuse.decode(reader, reader.size(), $undefined, _depth + 1, message.linkRefuse);
                        message.body = "linkRefuse";
                        continue;
                    }
                case 4: {
                        if (wireType !== 2)
                            break;
                        message.heartbeat = $root.zooid.Heartbeat.decode(reader, reader.size(), $undefined, _depth + 1, message.heartbeat);
                        message.body = "heartbeat";
                        continue;
                    }
                case 10: {
                        if (wireType !== 2)
                            break;
                        message.notification = $root.zooid.Notification.decode(reader, reader.size(), $undefined, _depth + 1, message.notification);
                        message.body = "notification";
                        continue;
                    }
                case 11: {
                        if (wireType !== 2)
                            break;
                        message.poll = $root.zooid.Poll.decode(reader, reader.size(), $undefined, _depth + 1, message.poll);
                        message.body = "poll";
                        continue;
                    }
                case 12: {
                        if (wireType !== 2)
                            break;
                        message.pollAnswer = $root.zooid.PollAnswer.decode(reader, reader.size(), $undefined, _depth + 1, message.pollAnswer);
                        message.body = "pollAnswer";
                        continue;
                    }
                case 20: {
                        if (wireType !== 2)
                            break;
                        message.learnerInfo = $root.zooid.LearnerInfo.decode(reader, reader.size(), $undefined, _depth + 1, message.learnerInfo);
                        message.body = "learnerInfo";
                        continue;
                    }
                case 21: {
                        if (wireType !== 2)
                            break;
                        message.leaderInfo = $root.zooid.LeaderInfo.decode(reader, reader.size(), $undefined, _depth + 1, message.leaderInfo);
                        message.body = "leaderInfo";
                        continue;
                    }
                case 22: {
                        if (wireType !== 2)
                            break;
                        message.ackEpoch = $root.zooid.AckEpoch.decode(reader, reader.size(), $undefined, _depth + 1, message.ackEpoch);
                        message.body = "ackEpoch";
                        continue;
                    }
                case 30: {
                        if (wireType !== 2)
                            break;
                        message.syncBegin = $root.zooid.SyncBegin.decode(reader, reader.size(), $undefined, _depth + 1, message.syncBegin);
                        message.body = "syncBegin";
                        continue;
                    }
                case 31: {
                        if (wireType !== 2)
                            break;
                        message.snapshotChunk = $root.zooid.SnapshotChunk.decode(reader, reader.size(), $undefined, _depth + 1, message.snapshotChunk);
                        message.body = "snapshotChunk";
                        continue;
                    }
                case 32: {
                        if (wireType !== 2)
                            break;
                        message.snapshotCredit = $root.zooid.SnapshotCredit.decode(reader, reader.size(), $undefined, _depth + 1, message.snapshotCredit);
                        message.body = "snapshotCredit";
                        continue;
                    }
                case 33: {
                        if (wireType !== 2)
                            break;
                        message.entries = $root.zooid.Entries.decode(reader, reader.size(), $undefined, _depth + 1, message.entries);
                        message.body = "entries";
                        continue;
                    }
                case 34: {
                        if (wireType !== 2)
                            break;
                        message.staged = $root.zooid.Staged.decode(reader, reader.size(), $undefined, _depth + 1, message.staged);
                        message.body = "staged";
                        continue;
                    }
                case 35: {
                        if (wireType !== 2)
                            break;
                        message.newLeader = $root.zooid.NewLeader.decode(reader, reader.size(), $undefined, _depth + 1, message.newLeader);
                        message.body = "newLeader";
                        continue;
                    }
                case 36: {
                        if (wireType !== 2)
                            break;
                        message.ackNewLeader = $root.zooid.AckNewLeader.decode(reader, reader.size(), $undefined, _depth + 1, message.ackNewLeader);
                        message.body = "ackNewLeader";
                        continue;
                    }
                case 37: {
                        if (wireType !== 2)
                            break;
                        message.upToDate = $root.zooid.UpToDate.decode(reader, reader.size(), $undefined, _depth + 1, message.upToDate);
                        message.body = "upToDate";
                        continue;
                    }
                case 40: {
                        if (wireType !== 2)
                            break;
                        message.ack = $root.zooid.Ack.decode(reader, reader.size(), $undefined, _depth + 1, message.ack);
                        message.body = "ack";
                        continue;
                    }
                case 41: {
                        if (wireType !== 2)
                            break;
                        message.commit = $root.zooid.Commit.decode(reader, reader.size(), $undefined, _depth + 1, message.commit);
                        message.body = "commit";
                        continue;
                    }
                case 42: {
                        if (wireType !== 2)
                            break;
                        message.ping = $root.zooid.Ping.decode(reader, reader.size(), $undefined, _depth + 1, message.ping);
                        message.body = "ping";
                        continue;
                    }
                case 43: {
                        if (wireType !== 2)
                            break;
                        message.pong = $root.zooid.Pong.decode(reader, reader.size(), $undefined, _depth + 1, message.pong);
                        message.body = "pong";
                        continue;
                    }
                case 44: {
                        if (wireType !== 2)
                            break;
                        message.leadershipTransfer = $root.zooid.LeadershipTransfer.decode(reader, reader.size(), $undefined, _depth + 1, message.leadershipTransfer);
                        message.body = "leadershipTransfer";
                        continue;
                    }
                case 45: {
                        if (wireType !== 2)
                            break;
                        message.refuse = $root.zooid.Refuse.decode(reader, reader.size(), $undefined, _depth + 1, message.refuse);
                        message.body = "refuse";
                        continue;
                    }
                case 50: {
                        if (wireType !== 2)
                            break;
                        message.identities = $root.zooid.Identities.decode(reader, reader.size(), $undefined, _depth + 1, message.identities);
                        message.body = "identities";
                        continue;
                    }
                case 51: {
                        if (wireType !== 2)
                            break;
                        message.forward = $root.zooid.Forward.decode(reader, reader.size(), $undefined, _depth + 1, message.forward);
                        message.body = "forward";
                        continue;
                    }
                case 52: {
                        if (wireType !== 2)
                            break;
                        message.openSession = $root.zooid.OpenSession.decode(reader, reader.size(), $undefined, _depth + 1, message.openSession);
                        message.body = "openSession";
                        continue;
                    }
                case 53: {
                        if (wireType !== 2)
                            break;
                        message.revalidate = $root.zooid.Revalidate.decode(reader, reader.size(), $undefined, _depth + 1, message.revalidate);
                        message.body = "revalidate";
                        continue;
                    }
                case 54: {
                        if (wireType !== 2)
                            break;
                        message.revalidated = $root.zooid.Revalidated.decode(reader, reader.size(), $undefined, _depth + 1, message.revalidated);
                        message.body = "revalidated";
                        continue;
                    }
                case 55: {
                        if (wireType !== 2)
                            break;
                        message.sync = $root.zooid.Sync.decode(reader, reader.size(), $undefined, _depth + 1, message.sync);
                        message.body = "sync";
                        continue;
                    }
                case 56: {
                        if (wireType !== 2)
                            break;
                        message.syncReply = $root.zooid.SyncReply.decode(reader, reader.size(), $undefined, _depth + 1, message.syncReply);
                        message.body = "syncReply";
                        continue;
                    }
                case 60: {
                        if (wireType !== 2)
                            break;
                        message.relayTo = $root.zooid.RelayTo.decode(reader, reader.size(), $undefined, _depth + 1, message.relayTo);
                        message.body = "relayTo";
                        continue;
                    }
                case 61: {
                        if (wireType !== 2)
                            break;
                        message.relayReady = $root.zooid.RelayReady.decode(reader, reader.size(), $undefined, _depth + 1, message.relayReady);
                        message.body = "relayReady";
                        continue;
                    }
                case 62: {
                        if (wireType !== 2)
                            break;
                        message.relayOpen = $root.zooid.RelayOpen.decode(reader, reader.size(), $undefined, _depth + 1, message.relayOpen);
                        message.body = "relayOpen";
                        continue;
                    }
                case 63: {
                        if (wireType !== 2)
                            break;
                        message.relayClose = $root.zooid.RelayClose.decode(reader, reader.size(), $undefined, _depth + 1, message.relayClose);
                        message.body = "relayClose";
                        continue;
                    }
                case 64: {
                        if (wireType !== 2)
                            break;
                        message.relayBytes = $root.zooid.RelayBytes.decode(reader, reader.size(), $undefined, _depth + 1, message.relayBytes);
                        message.body = "relayBytes";
                        continue;
                    }
                case 65: {
                        if (wireType !== 2)
                            break;
                        message.relayRun = $root.zooid.RelayRun.decode(reader, reader.size(), $undefined, _depth + 1, message.relayRun);
                        message.body = "relayRun";
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Envelope;
    })();

    zooid.Hello = (function() {

        const Hello = function (properties) {
            this.features = [];
            this.keyIds = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Hello.prototype.ensembleId = "";
        Hello.prototype.sid = 0;
        Hello.prototype.bootCount = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Hello.prototype.nonce = $util.newBuffer([]);
        Hello.prototype.versionMin = 0;
        Hello.prototype.versionMax = 0;
        Hello.prototype.features = $util.emptyArray;
        Hello.prototype.purpose = 0;
        Hello.prototype.frameBytesMax = 0;
        Hello.prototype.keyIds = $util.emptyArray;
        Hello.prototype.electionAlg = 0;
        Hello.prototype.host = "";
        Hello.prototype.startId = "";
        Hello.prototype.levelMin = 0;
        Hello.prototype.levelMax = 0;
        Hello.prototype.level = 0;

        Hello.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.ensembleId != null && $Object.hasOwnProperty.call(message, "ensembleId") && message.ensembleId !== "")
                writer.uint32(10).string(message.ensembleId);
            if (message.sid != null && $Object.hasOwnProperty.call(message, "sid") && message.sid !== 0)
                writer.uint32(16).uint32(message.sid);
            if (message.bootCount != null && $Object.hasOwnProperty.call(message, "bootCount") && (typeof message.bootCount === "object" ? message.bootCount.low || message.bootCount.high : message.bootCount !== 0))
                writer.uint32(24).uint64(message.bootCount);
            if (message.nonce != null && $Object.hasOwnProperty.call(message, "nonce") && message.nonce.length)
                writer.uint32(34).bytes(message.nonce);
            if (message.versionMin != null && $Object.hasOwnProperty.call(message, "versionMin") && message.versionMin !== 0)
                writer.uint32(40).uint32(message.versionMin);
            if (message.versionMax != null && $Object.hasOwnProperty.call(message, "versionMax") && message.versionMax !== 0)
                writer.uint32(48).uint32(message.versionMax);
            if (message.features != null && message.features.length)
                writer.uint32(58).uint32s(message.features);
            if (message.purpose != null && $Object.hasOwnProperty.call(message, "purpose") && message.purpose !== 0)
                writer.uint32(64).int32(message.purpose);
            if (message.frameBytesMax != null && $Object.hasOwnProperty.call(message, "frameBytesMax") && message.frameBytesMax !== 0)
                writer.uint32(72).uint32(message.frameBytesMax);
            if (message.keyIds != null && message.keyIds.length)
                for (let i = 0; i < message.keyIds.length; ++i)
                    writer.uint32(82).string(message.keyIds[i]);
            if (message.electionAlg != null && $Object.hasOwnProperty.call(message, "electionAlg") && message.electionAlg !== 0)
                writer.uint32(88).uint32(message.electionAlg);
            if (message.host != null && $Object.hasOwnProperty.call(message, "host") && message.host !== "")
                writer.uint32(98).string(message.host);
            if (message.startId != null && $Object.hasOwnProperty.call(message, "startId") && message.startId !== "")
                writer.uint32(106).string(message.startId);
            if (message.levelMin != null && $Object.hasOwnProperty.call(message, "levelMin") && message.levelMin !== 0)
                writer.uint32(112).uint32(message.levelMin);
            if (message.levelMax != null && $Object.hasOwnProperty.call(message, "levelMax") && message.levelMax !== 0)
                writer.uint32(120).uint32(message.levelMax);
            if (message.level != null && $Object.hasOwnProperty.call(message, "level") && message.level !== 0)
                writer.uint32(128).uint32(message.level);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Hello.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Hello();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.ensembleId = value;
                        else
                            delete message.ensembleId;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.sid = value;
                        else
                            delete message.sid;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.bootCount = value;
                        else
                            delete message.bootCount;
                        continue;
                    }
                case 4: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.nonce = value;
                        else
                            delete message.nonce;
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.versionMin = value;
                        else
                            delete message.versionMin;
                        continue;
                    }
                case 6: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.versionMax = value;
                        else
                            delete message.versionMax;
                        continue;
                    }
                case 7: {
                        if (wireType === 2) {
                            if (!(message.features && message.features.length))
                                message.features = [];
                            reader.uint32s(message.features);
                            continue;
                        }
                        if (wireType !== 0)
                            break;
                        if (!(message.features && message.features.length))
                            message.features = [];
                        message.features.push(reader.uint32());
                        continue;
                    }
                case 8: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.int32())
                            message.purpose = value;
                        else
                            delete message.purpose;
                        continue;
                    }
                case 9: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.frameBytesMax = value;
                        else
                            delete message.frameBytesMax;
                        continue;
                    }
                case 10: {
                        if (wireType !== 2)
                            break;
                        if (!(message.keyIds && message.keyIds.length))
                            message.keyIds = [];
                        message.keyIds.push(reader.stringVerify());
                        continue;
                    }
                case 11: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.electionAlg = value;
                        else
                            delete message.electionAlg;
                        continue;
                    }
                case 12: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.host = value;
                        else
                            delete message.host;
                        continue;
                    }
                case 13: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.startId = value;
                        else
                            delete message.startId;
                        continue;
                    }
                case 14: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.levelMin = value;
                        else
                            delete message.levelMin;
                        continue;
                    }
                case 15: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.levelMax = value;
                        else
                            delete message.levelMax;
                        continue;
                    }
                case 16: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.level = value;
                        else
                            delete message.level;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Hello;
    })();

    zooid.Purpose = (function() {
        const valuesById = $Object.create(null), values = $Object.create(valuesById);
        values[valuesById[0] = "ELECTION"] = 0;
        values[valuesById[1] = "QUORUM"] = 1;
        values[valuesById[2] = "OBSERVER"] = 2;
        return values;
    })();

    zooid.AuthProof = (function() {

        const AuthProof = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        AuthProof.prototype.keyId = "";
        AuthProof.prototype.mac = $util.newBuffer([]);

        AuthProof.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.keyId != null && $Object.hasOwnProperty.call(message, "keyId") && message.keyId !== "")
                writer.uint32(10).string(message.keyId);
            if (message.mac != null && $Object.hasOwnProperty.call(message, "mac") && message.mac.length)
                writer.uint32(18).bytes(message.mac);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        AuthProof.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.AuthProof();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.keyId = value;
                        else
                            delete message.keyId;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.mac = value;
                        else
                            delete message.mac;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return AuthProof;
    })();

    zooid.LinkRefuse = (function() {

        const LinkRefuse = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        LinkRefuse.prototype.reason = 0;
        LinkRefuse.prototype.text = "";
        LinkRefuse.prototype.retryAfterMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        LinkRefuse.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== 0)
                writer.uint32(8).int32(message.reason);
            if (message.text != null && $Object.hasOwnProperty.call(message, "text") && message.text !== "")
                writer.uint32(18).string(message.text);
            if (message.retryAfterMs != null && $Object.hasOwnProperty.call(message, "retryAfterMs") && (typeof message.retryAfterMs === "object" ? message.retryAfterMs.low || message.retryAfterMs.high : message.retryAfterMs !== 0))
                writer.uint32(24).uint64(message.retryAfterMs);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        LinkRefuse.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.LinkRefuse();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.int32())
                            message.reason = value;
                        else
                            delete message.reason;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.text = value;
                        else
                            delete message.text;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.retryAfterMs = value;
                        else
                            delete message.retryAfterMs;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return LinkRefuse;
    })();

    zooid.LinkReason = (function() {
        const valuesById = $Object.create(null), values = $Object.create(valuesById);
        values[valuesById[0] = "VERSION"] = 0;
        values[valuesById[1] = "AUTH"] = 1;
        values[valuesById[2] = "ENSEMBLE"] = 2;
        values[valuesById[3] = "CONFIGURATION"] = 3;
        values[valuesById[4] = "DUPLICATE"] = 4;
        values[valuesById[5] = "BUSY"] = 5;
        return values;
    })();

    zooid.Heartbeat = (function() {

        const Heartbeat = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Heartbeat.prototype.sequence = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Heartbeat.prototype.isEcho = false;
        Heartbeat.prototype.wallMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        Heartbeat.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.sequence != null && $Object.hasOwnProperty.call(message, "sequence") && (typeof message.sequence === "object" ? message.sequence.low || message.sequence.high : message.sequence !== 0))
                writer.uint32(8).uint64(message.sequence);
            if (message.isEcho != null && $Object.hasOwnProperty.call(message, "isEcho") && message.isEcho !== false)
                writer.uint32(16).bool(message.isEcho);
            if (message.wallMs != null && $Object.hasOwnProperty.call(message, "wallMs") && (typeof message.wallMs === "object" ? message.wallMs.low || message.wallMs.high : message.wallMs !== 0))
                writer.uint32(24).uint64(message.wallMs);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Heartbeat.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Heartbeat();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.sequence = value;
                        else
                            delete message.sequence;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isEcho = value;
                        else
                            delete message.isEcho;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.wallMs = value;
                        else
                            delete message.wallMs;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Heartbeat;
    })();

    zooid.Role = (function() {
        const valuesById = $Object.create(null), values = $Object.create(valuesById);
        values[valuesById[0] = "LOOKING"] = 0;
        values[valuesById[1] = "FOLLOWING"] = 1;
        values[valuesById[2] = "LEADING"] = 2;
        values[valuesById[3] = "OBSERVING"] = 3;
        return values;
    })();

    zooid.Vote = (function() {

        const Vote = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Vote.prototype.leader = 0;
        Vote.prototype.zxid = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Vote.prototype.peerEpoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        Vote.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.leader != null && $Object.hasOwnProperty.call(message, "leader") && message.leader !== 0)
                writer.uint32(8).uint32(message.leader);
            if (message.zxid != null && $Object.hasOwnProperty.call(message, "zxid") && (typeof message.zxid === "object" ? message.zxid.low || message.zxid.high : message.zxid !== 0))
                writer.uint32(17).fixed64(message.zxid);
            if (message.peerEpoch != null && $Object.hasOwnProperty.call(message, "peerEpoch") && (typeof message.peerEpoch === "object" ? message.peerEpoch.low || message.peerEpoch.high : message.peerEpoch !== 0))
                writer.uint32(24).uint64(message.peerEpoch);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Vote.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Vote();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.leader = value;
                        else
                            delete message.leader;
                        continue;
                    }
                case 2: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.zxid = value;
                        else
                            delete message.zxid;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.peerEpoch = value;
                        else
                            delete message.peerEpoch;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Vote;
    })();

    zooid.Notification = (function() {

        const Notification = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Notification.prototype.role = 0;
        Notification.prototype.round = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Notification.prototype.vote = null;
        Notification.prototype.selfZxid = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Notification.prototype.selfEpoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Notification.prototype.config = null;
        Notification.prototype.nextConfig = null;
        Notification.prototype.ensembleId = null;
        Notification.prototype.isFromFile = false;

        let $oneOfFields;

        // Virtual OneOf for proto3 optional field
        $Object.defineProperty(Notification.prototype, "_config", {
            get: $util.oneOfGetter($oneOfFields = ["config"]),
            set: $util.oneOfSetter($oneOfFields)
        });

        // Virtual OneOf for proto3 optional field
        $Object.defineProperty(Notification.prototype, "_nextConfig", {
            get: $util.oneOfGetter($oneOfFields = ["nextConfig"]),
            set: $util.oneOfSetter($oneOfFields)
        });

        // Virtual OneOf for proto3 optional field
        $Object.defineProperty(Notification.prototype, "_ensembleId", {
            get: $util.oneOfGetter($oneOfFields = ["ensembleId"]),
            set: $util.oneOfSetter($oneOfFields)
        });

        Notification.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.role != null && $Object.hasOwnProperty.call(message, "role") && message.role !== 0)
                writer.uint32(8).int32(message.role);
            if (message.round != null && $Object.hasOwnProperty.call(message, "round") && (typeof message.round === "object" ? message.round.low || message.round.high : message.round !== 0))
                writer.uint32(16).uint64(message.round);
            if (message.vote != null && $Object.hasOwnProperty.call(message, "vote"))
                $root.zooid.Vote.encode(message.vote, writer.uint32(26).fork(), _depth + 1).ldelim();
            if (message.selfZxid != null && $Object.hasOwnProperty.call(message, "selfZxid") && (typeof message.selfZxid === "object" ? message.selfZxid.low || message.selfZxid.high : message.selfZxid !== 0))
                writer.uint32(33).fixed64(message.selfZxid);
            if (message.selfEpoch != null && $Object.hasOwnProperty.call(message, "selfEpoch") && (typeof message.selfEpoch === "object" ? message.selfEpoch.low || message.selfEpoch.high : message.selfEpoch !== 0))
                writer.uint32(40).uint64(message.selfEpoch);
            if (message.config != null && $Object.hasOwnProperty.call(message, "config"))
                writer.uint32(50).bytes(message.config);
            if (message.nextConfig != null && $Object.hasOwnProperty.call(message, "nextConfig"))
                writer.uint32(58).bytes(message.nextConfig);
            if (message.ensembleId != null && $Object.hasOwnProperty.call(message, "ensembleId"))
                writer.uint32(66).string(message.ensembleId);
            if (message.isFromFile != null && $Object.hasOwnProperty.call(message, "isFromFile") && message.isFromFile !== false)
                writer.uint32(72).bool(message.isFromFile);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Notification.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Notification();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.int32())
                            message.role = value;
                        else
                            delete message.role;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.round = value;
                        else
                            delete message.round;
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        message.vote = $root.zooid.Vote.decode(reader, reader.size(), $undefined, _depth + 1, message.vote);
                        continue;
                    }
                case 4: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.selfZxid = value;
                        else
                            delete message.selfZxid;
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.selfEpoch = value;
                        else
                            delete message.selfEpoch;
                        continue;
                    }
                case 6: {
                        if (wireType !== 2)
                            break;
                        message.config = reader.bytes();
                        message._config = "config";
                        continue;
                    }
                case 7: {
                        if (wireType !== 2)
                            break;
                        message.nextConfig = reader.bytes();
                        message._nextConfig = "nextConfig";
                        continue;
                    }
                case 8: {
                        if (wireType !== 2)
                            break;
                        message.ensembleId = reader.stringVerify();
                        message._ensembleId = "ensembleId";
                        continue;
                    }
                case 9: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isFromFile = value;
                        else
                            delete message.isFromFile;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Notification;
    })();

    zooid.Poll = (function() {

        const Poll = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Poll.prototype.number = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        Poll.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.number != null && $Object.hasOwnProperty.call(message, "number") && (typeof message.number === "object" ? message.number.low || message.number.high : message.number !== 0))
                writer.uint32(8).uint64(message.number);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Poll.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Poll();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.number = value;
                        else
                            delete message.number;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Poll;
    })();

    zooid.PollAnswer = (function() {

        const PollAnswer = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        PollAnswer.prototype.number = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        PollAnswer.prototype.role = 0;
        PollAnswer.prototype.vote = null;
        PollAnswer.prototype.config = null;
        PollAnswer.prototype.nextConfig = null;
        PollAnswer.prototype.ensembleId = null;
        PollAnswer.prototype.isFromFile = false;

        let $oneOfFields;

        // Virtual OneOf for proto3 optional field
        $Object.defineProperty(PollAnswer.prototype, "_config", {
            get: $util.oneOfGetter($oneOfFields = ["config"]),
            set: $util.oneOfSetter($oneOfFields)
        });

        // Virtual OneOf for proto3 optional field
        $Object.defineProperty(PollAnswer.prototype, "_nextConfig", {
            get: $util.oneOfGetter($oneOfFields = ["nextConfig"]),
            set: $util.oneOfSetter($oneOfFields)
        });

        // Virtual OneOf for proto3 optional field
        $Object.defineProperty(PollAnswer.prototype, "_ensembleId", {
            get: $util.oneOfGetter($oneOfFields = ["ensembleId"]),
            set: $util.oneOfSetter($oneOfFields)
        });

        PollAnswer.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.number != null && $Object.hasOwnProperty.call(message, "number") && (typeof message.number === "object" ? message.number.low || message.number.high : message.number !== 0))
                writer.uint32(8).uint64(message.number);
            if (message.role != null && $Object.hasOwnProperty.call(message, "role") && message.role !== 0)
                writer.uint32(16).int32(message.role);
            if (message.vote != null && $Object.hasOwnProperty.call(message, "vote"))
                $root.zooid.Vote.encode(message.vote, writer.uint32(26).fork(), _depth + 1).ldelim();
            if (message.config != null && $Object.hasOwnProperty.call(message, "config"))
                writer.uint32(34).bytes(message.config);
            if (message.nextConfig != null && $Object.hasOwnProperty.call(message, "nextConfig"))
                writer.uint32(42).bytes(message.nextConfig);
            if (message.ensembleId != null && $Object.hasOwnProperty.call(message, "ensembleId"))
                writer.uint32(50).string(message.ensembleId);
            if (message.isFromFile != null && $Object.hasOwnProperty.call(message, "isFromFile") && message.isFromFile !== false)
                writer.uint32(56).bool(message.isFromFile);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        PollAnswer.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.PollAnswer();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.number = value;
                        else
                            delete message.number;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.int32())
                            message.role = value;
                        else
                            delete message.role;
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        message.vote = $root.zooid.Vote.decode(reader, reader.size(), $undefined, _depth + 1, message.vote);
                        continue;
                    }
                case 4: {
                        if (wireType !== 2)
                            break;
                        message.config = reader.bytes();
                        message._config = "config";
                        continue;
                    }
                case 5: {
                        if (wireType !== 2)
                            break;
                        message.nextConfig = reader.bytes();
                        message._nextConfig = "nextConfig";
                        continue;
                    }
                case 6: {
                        if (wireType !== 2)
                            break;
                        message.ensembleId = reader.stringVerify();
                        message._ensembleId = "ensembleId";
                        continue;
                    }
                case 7: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isFromFile = value;
                        else
                            delete message.isFromFile;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return PollAnswer;
    })();

    zooid.Position = (function() {

        const Position = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Position.prototype.zxid = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Position.prototype.chain = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        Position.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.zxid != null && $Object.hasOwnProperty.call(message, "zxid") && (typeof message.zxid === "object" ? message.zxid.low || message.zxid.high : message.zxid !== 0))
                writer.uint32(9).fixed64(message.zxid);
            if (message.chain != null && $Object.hasOwnProperty.call(message, "chain") && (typeof message.chain === "object" ? message.chain.low || message.chain.high : message.chain !== 0))
                writer.uint32(17).fixed64(message.chain);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Position.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Position();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.zxid = value;
                        else
                            delete message.zxid;
                        continue;
                    }
                case 2: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.chain = value;
                        else
                            delete message.chain;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Position;
    })();

    zooid.NamedState = (function() {

        const NamedState = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        NamedState.prototype.position = null;
        NamedState.prototype.digest = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        NamedState.prototype.isTaken = false;
        NamedState.prototype.level = 0;

        NamedState.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                $root.zooid.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
            if (message.digest != null && $Object.hasOwnProperty.call(message, "digest") && (typeof message.digest === "object" ? message.digest.low || message.digest.high : message.digest !== 0))
                writer.uint32(17).fixed64(message.digest);
            if (message.isTaken != null && $Object.hasOwnProperty.call(message, "isTaken") && message.isTaken !== false)
                writer.uint32(24).bool(message.isTaken);
            if (message.level != null && $Object.hasOwnProperty.call(message, "level") && message.level !== 0)
                writer.uint32(32).uint32(message.level);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        NamedState.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.NamedState();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 2)
                            break;
                        message.position = $root.zooid.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                        continue;
                    }
                case 2: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.digest = value;
                        else
                            delete message.digest;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isTaken = value;
                        else
                            delete message.isTaken;
                        continue;
                    }
                case 4: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.level = value;
                        else
                            delete message.level;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return NamedState;
    })();

    zooid.LearnerInfo = (function() {

        const LearnerInfo = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        LearnerInfo.prototype.isObserver = false;
        LearnerInfo.prototype.promisedEpoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        LearnerInfo.prototype.promisedTo = 0;
        LearnerInfo.prototype.promisedIncarnation = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        LearnerInfo.prototype.isFresh = false;
        LearnerInfo.prototype.isAmnesiac = false;
        LearnerInfo.prototype.ensembleId = "";
        LearnerInfo.prototype.isOwn = false;
        LearnerInfo.prototype.configVersion = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        LearnerInfo.prototype.attemptId = "";
        LearnerInfo.prototype.list = null;
        LearnerInfo.prototype.isWish = false;
        LearnerInfo.prototype.diskId = "";
        LearnerInfo.prototype.levelMin = 0;
        LearnerInfo.prototype.levelMax = 0;
        LearnerInfo.prototype.version = "";
        LearnerInfo.prototype.namedBy = null;

        let $oneOfFields;

        // Virtual OneOf for proto3 optional field
        $Object.defineProperty(LearnerInfo.prototype, "_list", {
            get: $util.oneOfGetter($oneOfFields = ["list"]),
            set: $util.oneOfSetter($oneOfFields)
        });

        // Virtual OneOf for proto3 optional field
        $Object.defineProperty(LearnerInfo.prototype, "_namedBy", {
            get: $util.oneOfGetter($oneOfFields = ["namedBy"]),
            set: $util.oneOfSetter($oneOfFields)
        });

        LearnerInfo.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.isObserver != null && $Object.hasOwnProperty.call(message, "isObserver") && message.isObserver !== false)
                writer.uint32(8).bool(message.isObserver);
            if (message.promisedEpoch != null && $Object.hasOwnProperty.call(message, "promisedEpoch") && (typeof message.promisedEpoch === "object" ? message.promisedEpoch.low || message.promisedEpoch.high : message.promisedEpoch !== 0))
                writer.uint32(16).uint64(message.promisedEpoch);
            if (message.promisedTo != null && $Object.hasOwnProperty.call(message, "promisedTo") && message.promisedTo !== 0)
                writer.uint32(24).uint32(message.promisedTo);
            if (message.promisedIncarnation != null && $Object.hasOwnProperty.call(message, "promisedIncarnation") && (typeof message.promisedIncarnation === "object" ? message.promisedIncarnation.low || message.promisedIncarnation.high : message.promisedIncarnation !== 0))
                writer.uint32(32).uint64(message.promisedIncarnation);
            if (message.isFresh != null && $Object.hasOwnProperty.call(message, "isFresh") && message.isFresh !== false)
                writer.uint32(40).bool(message.isFresh);
            if (message.isAmnesiac != null && $Object.hasOwnProperty.call(message, "isAmnesiac") && message.isAmnesiac !== false)
                writer.uint32(48).bool(message.isAmnesiac);
            if (message.ensembleId != null && $Object.hasOwnProperty.call(message, "ensembleId") && message.ensembleId !== "")
                writer.uint32(58).string(message.ensembleId);
            if (message.isOwn != null && $Object.hasOwnProperty.call(message, "isOwn") && message.isOwn !== false)
                writer.uint32(64).bool(message.isOwn);
            if (message.configVersion != null && $Object.hasOwnProperty.call(message, "configVersion") && (typeof message.configVersion === "object" ? message.configVersion.low || message.configVersion.high : message.configVersion !== 0))
                writer.uint32(73).fixed64(message.configVersion);
            if (message.attemptId != null && $Object.hasOwnProperty.call(message, "attemptId") && message.attemptId !== "")
                writer.uint32(82).string(message.attemptId);
            if (message.list != null && $Object.hasOwnProperty.call(message, "list"))
                writer.uint32(90).bytes(message.list);
            if (message.isWish != null && $Object.hasOwnProperty.call(message, "isWish") && message.isWish !== false)
                writer.uint32(96).bool(message.isWish);
            if (message.diskId != null && $Object.hasOwnProperty.call(message, "diskId") && message.diskId !== "")
                writer.uint32(106).string(message.diskId);
            if (message.levelMin != null && $Object.hasOwnProperty.call(message, "levelMin") && message.levelMin !== 0)
                writer.uint32(112).uint32(message.levelMin);
            if (message.levelMax != null && $Object.hasOwnProperty.call(message, "levelMax") && message.levelMax !== 0)
                writer.uint32(120).uint32(message.levelMax);
            if (message.version != null && $Object.hasOwnProperty.call(message, "version") && message.version !== "")
                writer.uint32(130).string(message.version);
            if (message.namedBy != null && $Object.hasOwnProperty.call(message, "namedBy"))
                writer.uint32(136).uint32(message.namedBy);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        LearnerInfo.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.LearnerInfo();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isObserver = value;
                        else
                            delete message.isObserver;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.promisedEpoch = value;
                        else
                            delete message.promisedEpoch;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.promisedTo = value;
                        else
                            delete message.promisedTo;
                        continue;
                    }
                case 4: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.promisedIncarnation = value;
                        else
                            delete message.promisedIncarnation;
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isFresh = value;
                        else
                            delete message.isFresh;
                        continue;
                    }
                case 6: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isAmnesiac = value;
                        else
                            delete message.isAmnesiac;
                        continue;
                    }
                case 7: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.ensembleId = value;
                        else
                            delete message.ensembleId;
                        continue;
                    }
                case 8: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isOwn = value;
                        else
                            delete message.isOwn;
                        continue;
                    }
                case 9: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.configVersion = value;
                        else
                            delete message.configVersion;
                        continue;
                    }
                case 10: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.attemptId = value;
                        else
                            delete message.attemptId;
                        continue;
                    }
                case 11: {
                        if (wireType !== 2)
                            break;
                        message.list = reader.bytes();
                        message._list = "list";
                        continue;
                    }
                case 12: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isWish = value;
                        else
                            delete message.isWish;
                        continue;
                    }
                case 13: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.diskId = value;
                        else
                            delete message.diskId;
                        continue;
                    }
                case 14: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.levelMin = value;
                        else
                            delete message.levelMin;
                        continue;
                    }
                case 15: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.levelMax = value;
                        else
                            delete message.levelMax;
                        continue;
                    }
                case 16: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.version = value;
                        else
                            delete message.version;
                        continue;
                    }
                case 17: {
                        if (wireType !== 0)
                            break;
                        message.namedBy = reader.uint32();
                        message._namedBy = "namedBy";
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return LearnerInfo;
    })();

    zooid.LeaderInfo = (function() {

        const LeaderInfo = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        LeaderInfo.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        LeaderInfo.prototype.incarnation = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        LeaderInfo.prototype.ensembleId = "";

        LeaderInfo.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(8).uint64(message.epoch);
            if (message.incarnation != null && $Object.hasOwnProperty.call(message, "incarnation") && (typeof message.incarnation === "object" ? message.incarnation.low || message.incarnation.high : message.incarnation !== 0))
                writer.uint32(16).uint64(message.incarnation);
            if (message.ensembleId != null && $Object.hasOwnProperty.call(message, "ensembleId") && message.ensembleId !== "")
                writer.uint32(26).string(message.ensembleId);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        LeaderInfo.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.LeaderInfo();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.incarnation = value;
                        else
                            delete message.incarnation;
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.ensembleId = value;
                        else
                            delete message.ensembleId;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return LeaderInfo;
    })();

    zooid.Tail = (function() {

        const Tail = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Tail.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Tail.prototype.last = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        Tail.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(8).uint64(message.epoch);
            if (message.last != null && $Object.hasOwnProperty.call(message, "last") && (typeof message.last === "object" ? message.last.low || message.last.high : message.last !== 0))
                writer.uint32(16).uint64(message.last);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Tail.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Tail();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.last = value;
                        else
                            delete message.last;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Tail;
    })();

    zooid.AckEpoch = (function() {

        const AckEpoch = function (properties) {
            this.tails = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        AckEpoch.prototype.isRepeated = false;
        AckEpoch.prototype.currentEpoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        AckEpoch.prototype.logged = null;
        AckEpoch.prototype.floor = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        AckEpoch.prototype.tails = $util.emptyArray;
        AckEpoch.prototype.isFloorUncommitted = false;
        AckEpoch.prototype.level = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        AckEpoch.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.isRepeated != null && $Object.hasOwnProperty.call(message, "isRepeated") && message.isRepeated !== false)
                writer.uint32(8).bool(message.isRepeated);
            if (message.currentEpoch != null && $Object.hasOwnProperty.call(message, "currentEpoch") && (typeof message.currentEpoch === "object" ? message.currentEpoch.low || message.currentEpoch.high : message.currentEpoch !== 0))
                writer.uint32(16).uint64(message.currentEpoch);
            if (message.logged != null && $Object.hasOwnProperty.call(message, "logged"))
                $root.zooid.Position.encode(message.logged, writer.uint32(26).fork(), _depth + 1).ldelim();
            if (message.floor != null && $Object.hasOwnProperty.call(message, "floor") && (typeof message.floor === "object" ? message.floor.low || message.floor.high : message.floor !== 0))
                writer.uint32(33).fixed64(message.floor);
            if (message.tails != null && message.tails.length)
                for (let i = 0; i < message.tails.length; ++i)
                    $root.zooid.Tail.encode(message.tails[i], writer.uint32(42).fork(), _depth + 1).ldelim();
            if (message.isFloorUncommitted != null && $Object.hasOwnProperty.call(message, "isFloorUncommitted") && message.isFloorUncommitted !== false)
                writer.uint32(48).bool(message.isFloorUncommitted);
            if (message.level != null && $Object.hasOwnProperty.call(message, "level") && (typeof message.level === "object" ? message.level.low || message.level.high : message.level !== 0))
                writer.uint32(56).uint64(message.level);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        AckEpoch.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.AckEpoch();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isRepeated = value;
                        else
                            delete message.isRepeated;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.currentEpoch = value;
                        else
                            delete message.currentEpoch;
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        message.logged = $root.zooid.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.logged);
                        continue;
                    }
                case 4: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.floor = value;
                        else
                            delete message.floor;
                        continue;
                    }
                case 5: {
                        if (wireType !== 2)
                            break;
                        if (!(message.tails && message.tails.length))
                            message.tails = [];
                        message.tails.push($root.zooid.Tail.decode(reader, reader.size(), $undefined, _depth + 1));
                        continue;
                    }
                case 6: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isFloorUncommitted = value;
                        else
                            delete message.isFloorUncommitted;
                        continue;
                    }
                case 7: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.level = value;
                        else
                            delete message.level;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return AckEpoch;
    })();

    zooid.Mode = (function() {
        const valuesById = $Object.create(null), values = $Object.create(valuesById);
        values[valuesById[0] = "DIFF"] = 0;
        values[valuesById[1] = "TRUNC"] = 1;
        values[valuesById[2] = "SNAP"] = 2;
        return values;
    })();

    zooid.EpochRange = (function() {

        const EpochRange = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        EpochRange.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        EpochRange.prototype.first = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        EpochRange.prototype.last = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        EpochRange.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(8).uint64(message.epoch);
            if (message.first != null && $Object.hasOwnProperty.call(message, "first") && (typeof message.first === "object" ? message.first.low || message.first.high : message.first !== 0))
                writer.uint32(16).uint64(message.first);
            if (message.last != null && $Object.hasOwnProperty.call(message, "last") && (typeof message.last === "object" ? message.last.low || message.last.high : message.last !== 0))
                writer.uint32(24).uint64(message.last);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        EpochRange.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.EpochRange();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.first = value;
                        else
                            delete message.first;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.last = value;
                        else
                            delete message.last;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return EpochRange;
    })();

    zooid.SyncBegin = (function() {

        const SyncBegin = function (properties) {
            this.epochs = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        SyncBegin.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        SyncBegin.prototype.mode = 0;
        SyncBegin.prototype.from = null;
        SyncBegin.prototype.epochs = $util.emptyArray;
        SyncBegin.prototype.isUncommitted = false;
        SyncBegin.prototype.origin = null;

        SyncBegin.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(8).uint64(message.epoch);
            if (message.mode != null && $Object.hasOwnProperty.call(message, "mode") && message.mode !== 0)
                writer.uint32(16).int32(message.mode);
            if (message.from != null && $Object.hasOwnProperty.call(message, "from"))
                $root.zooid.Position.encode(message.from, writer.uint32(26).fork(), _depth + 1).ldelim();
            if (message.epochs != null && message.epochs.length)
                for (let i = 0; i < message.epochs.length; ++i)
                    $root.zooid.EpochRange.encode(message.epochs[i], writer.uint32(34).fork(), _depth + 1).ldelim();
            if (message.isUncommitted != null && $Object.hasOwnProperty.call(message, "isUncommitted") && message.isUncommitted !== false)
                writer.uint32(40).bool(message.isUncommitted);
            if (message.origin != null && $Object.hasOwnProperty.call(message, "origin"))
                $root.zooid.NamedState.encode(message.origin, writer.uint32(50).fork(), _depth + 1).ldelim();
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        SyncBegin.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.SyncBegin();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.int32())
                            message.mode = value;
                        else
                            delete message.mode;
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        message.from = $root.zooid.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.from);
                        continue;
                    }
                case 4: {
                        if (wireType !== 2)
                            break;
                        if (!(message.epochs && message.epochs.length))
                            message.epochs = [];
                        message.epochs.push($root.zooid.EpochRange.decode(reader, reader.size(), $undefined, _depth + 1));
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isUncommitted = value;
                        else
                            delete message.isUncommitted;
                        continue;
                    }
                case 6: {
                        if (wireType !== 2)
                            break;
                        message.origin = $root.zooid.NamedState.decode(reader, reader.size(), $undefined, _depth + 1, message.origin);
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return SyncBegin;
    })();

    zooid.SnapshotChunk = (function() {

        const SnapshotChunk = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        SnapshotChunk.prototype.index = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        SnapshotChunk.prototype.isLast = false;
        SnapshotChunk.prototype.data = $util.newBuffer([]);

        SnapshotChunk.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.index != null && $Object.hasOwnProperty.call(message, "index") && (typeof message.index === "object" ? message.index.low || message.index.high : message.index !== 0))
                writer.uint32(8).uint64(message.index);
            if (message.isLast != null && $Object.hasOwnProperty.call(message, "isLast") && message.isLast !== false)
                writer.uint32(16).bool(message.isLast);
            if (message.data != null && $Object.hasOwnProperty.call(message, "data") && message.data.length)
                writer.uint32(26).bytes(message.data);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        SnapshotChunk.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.SnapshotChunk();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.index = value;
                        else
                            delete message.index;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isLast = value;
                        else
                            delete message.isLast;
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.data = value;
                        else
                            delete message.data;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return SnapshotChunk;
    })();

    zooid.SnapshotCredit = (function() {

        const SnapshotCredit = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        SnapshotCredit.prototype.next = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        SnapshotCredit.prototype.isWhole = false;

        SnapshotCredit.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.next != null && $Object.hasOwnProperty.call(message, "next") && (typeof message.next === "object" ? message.next.low || message.next.high : message.next !== 0))
                writer.uint32(8).uint64(message.next);
            if (message.isWhole != null && $Object.hasOwnProperty.call(message, "isWhole") && message.isWhole !== false)
                writer.uint32(16).bool(message.isWhole);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        SnapshotCredit.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.SnapshotCredit();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.next = value;
                        else
                            delete message.next;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isWhole = value;
                        else
                            delete message.isWhole;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return SnapshotCredit;
    })();

    zooid.Entries = (function() {

        const Entries = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Entries.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Entries.prototype.previous = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Entries.prototype.first = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Entries.prototype.last = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Entries.prototype.count = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Entries.prototype.committed = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Entries.prototype.check = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Entries.prototype.run = $util.newBuffer([]);

        Entries.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(8).uint64(message.epoch);
            if (message.previous != null && $Object.hasOwnProperty.call(message, "previous") && (typeof message.previous === "object" ? message.previous.low || message.previous.high : message.previous !== 0))
                writer.uint32(17).fixed64(message.previous);
            if (message.first != null && $Object.hasOwnProperty.call(message, "first") && (typeof message.first === "object" ? message.first.low || message.first.high : message.first !== 0))
                writer.uint32(25).fixed64(message.first);
            if (message.last != null && $Object.hasOwnProperty.call(message, "last") && (typeof message.last === "object" ? message.last.low || message.last.high : message.last !== 0))
                writer.uint32(33).fixed64(message.last);
            if (message.count != null && $Object.hasOwnProperty.call(message, "count") && (typeof message.count === "object" ? message.count.low || message.count.high : message.count !== 0))
                writer.uint32(40).uint64(message.count);
            if (message.committed != null && $Object.hasOwnProperty.call(message, "committed") && (typeof message.committed === "object" ? message.committed.low || message.committed.high : message.committed !== 0))
                writer.uint32(49).fixed64(message.committed);
            if (message.check != null && $Object.hasOwnProperty.call(message, "check") && (typeof message.check === "object" ? message.check.low || message.check.high : message.check !== 0))
                writer.uint32(56).uint64(message.check);
            if (message.run != null && $Object.hasOwnProperty.call(message, "run") && message.run.length)
                writer.uint32(66).bytes(message.run);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Entries.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Entries();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 2: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.previous = value;
                        else
                            delete message.previous;
                        continue;
                    }
                case 3: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.first = value;
                        else
                            delete message.first;
                        continue;
                    }
                case 4: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.last = value;
                        else
                            delete message.last;
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.count = value;
                        else
                            delete message.count;
                        continue;
                    }
                case 6: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.committed = value;
                        else
                            delete message.committed;
                        continue;
                    }
                case 7: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.check = value;
                        else
                            delete message.check;
                        continue;
                    }
                case 8: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.run = value;
                        else
                            delete message.run;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Entries;
    })();

    zooid.Staged = (function() {

        const Staged = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Staged.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Staged.prototype.through = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        Staged.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(8).uint64(message.epoch);
            if (message.through != null && $Object.hasOwnProperty.call(message, "through") && (typeof message.through === "object" ? message.through.low || message.through.high : message.through !== 0))
                writer.uint32(17).fixed64(message.through);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Staged.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Staged();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 2: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.through = value;
                        else
                            delete message.through;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Staged;
    })();

    zooid.NewLeader = (function() {

        const NewLeader = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        NewLeader.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        NewLeader.prototype.through = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        NewLeader.prototype.endsAmnesia = false;
        NewLeader.prototype.config = null;
        NewLeader.prototype.ensembleId = "";
        NewLeader.prototype.committedConfig = null;
        NewLeader.prototype.levelRaise = null;

        let $oneOfFields;

        // Virtual OneOf for proto3 optional field
        $Object.defineProperty(NewLeader.prototype, "_config", {
            get: $util.oneOfGetter($oneOfFields = ["config"]),
            set: $util.oneOfSetter($oneOfFields)
        });

        // Virtual OneOf for proto3 optional field
        $Object.defineProperty(NewLeader.prototype, "_committedConfig", {
            get: $util.oneOfGetter($oneOfFields = ["committedConfig"]),
            set: $util.oneOfSetter($oneOfFields)
        });

        NewLeader.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(8).uint64(message.epoch);
            if (message.through != null && $Object.hasOwnProperty.call(message, "through") && (typeof message.through === "object" ? message.through.low || message.through.high : message.through !== 0))
                writer.uint32(17).fixed64(message.through);
            if (message.endsAmnesia != null && $Object.hasOwnProperty.call(message, "endsAmnesia") && message.endsAmnesia !== false)
                writer.uint32(24).bool(message.endsAmnesia);
            if (message.config != null && $Object.hasOwnProperty.call(message, "config"))
                writer.uint32(34).bytes(message.config);
            if (message.ensembleId != null && $Object.hasOwnProperty.call(message, "ensembleId") && message.ensembleId !== "")
                writer.uint32(42).string(message.ensembleId);
            if (message.committedConfig != null && $Object.hasOwnProperty.call(message, "committedConfig"))
                writer.uint32(50).bytes(message.committedConfig);
            if (message.levelRaise != null && $Object.hasOwnProperty.call(message, "levelRaise"))
                $root.zooid.LevelRaise.encode(message.levelRaise, writer.uint32(58).fork(), _depth + 1).ldelim();
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        NewLeader.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.NewLeader();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 2: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.through = value;
                        else
                            delete message.through;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.endsAmnesia = value;
                        else
                            delete message.endsAmnesia;
                        continue;
                    }
                case 4: {
                        if (wireType !== 2)
                            break;
                        message.config = reader.bytes();
                        message._config = "config";
                        continue;
                    }
                case 5: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.ensembleId = value;
                        else
                            delete message.ensembleId;
                        continue;
                    }
                case 6: {
                        if (wireType !== 2)
                            break;
                        message.committedConfig = reader.bytes();
                        message._committedConfig = "committedConfig";
                        continue;
                    }
                case 7: {
                        if (wireType !== 2)
                            break;
                        message.levelRaise = $root.zooid.LevelRaise.decode(reader, reader.size(), $undefined, _depth + 1, message.levelRaise);
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return NewLeader;
    })();

    zooid.LevelRaise = (function() {

        const LevelRaise = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        LevelRaise.prototype.level = 0;
        LevelRaise.prototype.zxid = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        LevelRaise.prototype.replaced = 0;

        LevelRaise.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.level != null && $Object.hasOwnProperty.call(message, "level") && message.level !== 0)
                writer.uint32(8).uint32(message.level);
            if (message.zxid != null && $Object.hasOwnProperty.call(message, "zxid") && (typeof message.zxid === "object" ? message.zxid.low || message.zxid.high : message.zxid !== 0))
                writer.uint32(17).fixed64(message.zxid);
            if (message.replaced != null && $Object.hasOwnProperty.call(message, "replaced") && message.replaced !== 0)
                writer.uint32(24).uint32(message.replaced);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        LevelRaise.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.LevelRaise();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.level = value;
                        else
                            delete message.level;
                        continue;
                    }
                case 2: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.zxid = value;
                        else
                            delete message.zxid;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.replaced = value;
                        else
                            delete message.replaced;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return LevelRaise;
    })();

    zooid.AckNewLeader = (function() {

        const AckNewLeader = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        AckNewLeader.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        AckNewLeader.prototype.through = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        AckNewLeader.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(8).uint64(message.epoch);
            if (message.through != null && $Object.hasOwnProperty.call(message, "through") && (typeof message.through === "object" ? message.through.low || message.through.high : message.through !== 0))
                writer.uint32(17).fixed64(message.through);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        AckNewLeader.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.AckNewLeader();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 2: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.through = value;
                        else
                            delete message.through;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return AckNewLeader;
    })();

    zooid.UpToDate = (function() {

        const UpToDate = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        UpToDate.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        UpToDate.prototype.committed = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        UpToDate.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(8).uint64(message.epoch);
            if (message.committed != null && $Object.hasOwnProperty.call(message, "committed") && (typeof message.committed === "object" ? message.committed.low || message.committed.high : message.committed !== 0))
                writer.uint32(17).fixed64(message.committed);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        UpToDate.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.UpToDate();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 2: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.committed = value;
                        else
                            delete message.committed;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return UpToDate;
    })();

    zooid.Ack = (function() {

        const Ack = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Ack.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Ack.prototype.durable = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Ack.prototype.check = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        Ack.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(8).uint64(message.epoch);
            if (message.durable != null && $Object.hasOwnProperty.call(message, "durable") && (typeof message.durable === "object" ? message.durable.low || message.durable.high : message.durable !== 0))
                writer.uint32(17).fixed64(message.durable);
            if (message.check != null && $Object.hasOwnProperty.call(message, "check") && (typeof message.check === "object" ? message.check.low || message.check.high : message.check !== 0))
                writer.uint32(24).uint64(message.check);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Ack.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Ack();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 2: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.durable = value;
                        else
                            delete message.durable;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.check = value;
                        else
                            delete message.check;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Ack;
    })();

    zooid.Commit = (function() {

        const Commit = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Commit.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Commit.prototype.committed = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        Commit.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(8).uint64(message.epoch);
            if (message.committed != null && $Object.hasOwnProperty.call(message, "committed") && (typeof message.committed === "object" ? message.committed.low || message.committed.high : message.committed !== 0))
                writer.uint32(17).fixed64(message.committed);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Commit.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Commit();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 2: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.committed = value;
                        else
                            delete message.committed;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Commit;
    })();

    zooid.Ping = (function() {

        const Ping = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Ping.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Ping.prototype.check = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Ping.prototype.committed = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Ping.prototype.lacksRoom = false;

        Ping.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(8).uint64(message.epoch);
            if (message.check != null && $Object.hasOwnProperty.call(message, "check") && (typeof message.check === "object" ? message.check.low || message.check.high : message.check !== 0))
                writer.uint32(16).uint64(message.check);
            if (message.committed != null && $Object.hasOwnProperty.call(message, "committed") && (typeof message.committed === "object" ? message.committed.low || message.committed.high : message.committed !== 0))
                writer.uint32(25).fixed64(message.committed);
            if (message.lacksRoom != null && $Object.hasOwnProperty.call(message, "lacksRoom") && message.lacksRoom !== false)
                writer.uint32(32).bool(message.lacksRoom);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Ping.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Ping();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.check = value;
                        else
                            delete message.check;
                        continue;
                    }
                case 3: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.committed = value;
                        else
                            delete message.committed;
                        continue;
                    }
                case 4: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.lacksRoom = value;
                        else
                            delete message.lacksRoom;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Ping;
    })();

    zooid.Touch = (function() {

        const Touch = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Touch.prototype.session = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Touch.prototype.timeoutMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        Touch.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.session != null && $Object.hasOwnProperty.call(message, "session") && (typeof message.session === "object" ? message.session.low || message.session.high : message.session !== 0))
                writer.uint32(9).fixed64(message.session);
            if (message.timeoutMs != null && $Object.hasOwnProperty.call(message, "timeoutMs") && (typeof message.timeoutMs === "object" ? message.timeoutMs.low || message.timeoutMs.high : message.timeoutMs !== 0))
                writer.uint32(16).uint64(message.timeoutMs);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Touch.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Touch();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.session = value;
                        else
                            delete message.session;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.timeoutMs = value;
                        else
                            delete message.timeoutMs;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Touch;
    })();

    zooid.DiskRoom = (function() {
        const valuesById = $Object.create(null), values = $Object.create(valuesById);
        values[valuesById[0] = "ENOUGH"] = 0;
        values[valuesById[1] = "LOW"] = 1;
        values[valuesById[2] = "FULL"] = 2;
        return values;
    })();

    zooid.Pong = (function() {

        const Pong = function (properties) {
            this.touches = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Pong.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Pong.prototype.check = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Pong.prototype.applied = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Pong.prototype.touches = $util.emptyArray;
        Pong.prototype.room = 0;
        Pong.prototype.standby = null;

        Pong.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(8).uint64(message.epoch);
            if (message.check != null && $Object.hasOwnProperty.call(message, "check") && (typeof message.check === "object" ? message.check.low || message.check.high : message.check !== 0))
                writer.uint32(16).uint64(message.check);
            if (message.applied != null && $Object.hasOwnProperty.call(message, "applied") && (typeof message.applied === "object" ? message.applied.low || message.applied.high : message.applied !== 0))
                writer.uint32(25).fixed64(message.applied);
            if (message.touches != null && message.touches.length)
                for (let i = 0; i < message.touches.length; ++i)
                    $root.zooid.Touch.encode(message.touches[i], writer.uint32(34).fork(), _depth + 1).ldelim();
            if (message.room != null && $Object.hasOwnProperty.call(message, "room") && message.room !== 0)
                writer.uint32(40).int32(message.room);
            if (message.standby != null && $Object.hasOwnProperty.call(message, "standby"))
                $root.zooid.NamedState.encode(message.standby, writer.uint32(50).fork(), _depth + 1).ldelim();
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Pong.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Pong();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.check = value;
                        else
                            delete message.check;
                        continue;
                    }
                case 3: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.applied = value;
                        else
                            delete message.applied;
                        continue;
                    }
                case 4: {
                        if (wireType !== 2)
                            break;
                        if (!(message.touches && message.touches.length))
                            message.touches = [];
                        message.touches.push($root.zooid.Touch.decode(reader, reader.size(), $undefined, _depth + 1));
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.int32())
                            message.room = value;
                        else
                            delete message.room;
                        continue;
                    }
                case 6: {
                        if (wireType !== 2)
                            break;
                        message.standby = $root.zooid.NamedState.decode(reader, reader.size(), $undefined, _depth + 1, message.standby);
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Pong;
    })();

    zooid.LeadershipTransfer = (function() {

        const LeadershipTransfer = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        LeadershipTransfer.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        LeadershipTransfer.prototype.successor = 0;

        LeadershipTransfer.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(8).uint64(message.epoch);
            if (message.successor != null && $Object.hasOwnProperty.call(message, "successor") && message.successor !== 0)
                writer.uint32(16).uint32(message.successor);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        LeadershipTransfer.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.LeadershipTransfer();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.successor = value;
                        else
                            delete message.successor;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return LeadershipTransfer;
    })();

    zooid.Refuse = (function() {

        const Refuse = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Refuse.prototype.reason = 0;
        Refuse.prototype.text = "";

        Refuse.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== 0)
                writer.uint32(8).int32(message.reason);
            if (message.text != null && $Object.hasOwnProperty.call(message, "text") && message.text !== "")
                writer.uint32(18).string(message.text);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Refuse.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Refuse();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.int32())
                            message.reason = value;
                        else
                            delete message.reason;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.text = value;
                        else
                            delete message.text;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Refuse;
    })();

    zooid.Reason = (function() {
        const valuesById = $Object.create(null), values = $Object.create(valuesById);
        values[valuesById[0] = "NOT_LEADING"] = 0;
        values[valuesById[1] = "EPOCH_LOW"] = 1;
        values[valuesById[2] = "DIVERGED"] = 2;
        values[valuesById[3] = "UNABLE"] = 3;
        values[valuesById[4] = "LEVEL"] = 4;
        return values;
    })();

    zooid.Identity = (function() {

        const Identity = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Identity.prototype.scheme = "";
        Identity.prototype.id = "";

        Identity.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.scheme != null && $Object.hasOwnProperty.call(message, "scheme") && message.scheme !== "")
                writer.uint32(10).string(message.scheme);
            if (message.id != null && $Object.hasOwnProperty.call(message, "id") && message.id !== "")
                writer.uint32(18).string(message.id);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Identity.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Identity();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.scheme = value;
                        else
                            delete message.scheme;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.id = value;
                        else
                            delete message.id;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Identity;
    })();

    zooid.Identities = (function() {

        const Identities = function (properties) {
            this.identities = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Identities.prototype.client = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Identities.prototype.identities = $util.emptyArray;

        Identities.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.client != null && $Object.hasOwnProperty.call(message, "client") && (typeof message.client === "object" ? message.client.low || message.client.high : message.client !== 0))
                writer.uint32(8).uint64(message.client);
            if (message.identities != null && message.identities.length)
                for (let i = 0; i < message.identities.length; ++i)
                    $root.zooid.Identity.encode(message.identities[i], writer.uint32(18).fork(), _depth + 1).ldelim();
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Identities.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Identities();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.client = value;
                        else
                            delete message.client;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if (!(message.identities && message.identities.length))
                            message.identities = [];
                        message.identities.push($root.zooid.Identity.decode(reader, reader.size(), $undefined, _depth + 1));
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Identities;
    })();

    zooid.Forward = (function() {

        const Forward = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Forward.prototype.count = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Forward.prototype.run = $util.newBuffer([]);

        Forward.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.count != null && $Object.hasOwnProperty.call(message, "count") && (typeof message.count === "object" ? message.count.low || message.count.high : message.count !== 0))
                writer.uint32(8).uint64(message.count);
            if (message.run != null && $Object.hasOwnProperty.call(message, "run") && message.run.length)
                writer.uint32(18).bytes(message.run);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Forward.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Forward();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.count = value;
                        else
                            delete message.count;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.run = value;
                        else
                            delete message.run;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Forward;
    })();

    zooid.OpenSession = (function() {

        const OpenSession = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        OpenSession.prototype.sequence = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        OpenSession.prototype.session = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        OpenSession.prototype.timeoutMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        OpenSession.prototype.passwordHash = $util.newBuffer([]);

        OpenSession.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.sequence != null && $Object.hasOwnProperty.call(message, "sequence") && (typeof message.sequence === "object" ? message.sequence.low || message.sequence.high : message.sequence !== 0))
                writer.uint32(8).uint64(message.sequence);
            if (message.session != null && $Object.hasOwnProperty.call(message, "session") && (typeof message.session === "object" ? message.session.low || message.session.high : message.session !== 0))
                writer.uint32(17).fixed64(message.session);
            if (message.timeoutMs != null && $Object.hasOwnProperty.call(message, "timeoutMs") && (typeof message.timeoutMs === "object" ? message.timeoutMs.low || message.timeoutMs.high : message.timeoutMs !== 0))
                writer.uint32(24).uint64(message.timeoutMs);
            if (message.passwordHash != null && $Object.hasOwnProperty.call(message, "passwordHash") && message.passwordHash.length)
                writer.uint32(34).bytes(message.passwordHash);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        OpenSession.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.OpenSession();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.sequence = value;
                        else
                            delete message.sequence;
                        continue;
                    }
                case 2: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.session = value;
                        else
                            delete message.session;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.timeoutMs = value;
                        else
                            delete message.timeoutMs;
                        continue;
                    }
                case 4: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.passwordHash = value;
                        else
                            delete message.passwordHash;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return OpenSession;
    })();

    zooid.Revalidate = (function() {

        const Revalidate = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Revalidate.prototype.sequence = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Revalidate.prototype.session = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Revalidate.prototype.timeoutMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Revalidate.prototype.passwordHash = $util.newBuffer([]);

        Revalidate.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.sequence != null && $Object.hasOwnProperty.call(message, "sequence") && (typeof message.sequence === "object" ? message.sequence.low || message.sequence.high : message.sequence !== 0))
                writer.uint32(8).uint64(message.sequence);
            if (message.session != null && $Object.hasOwnProperty.call(message, "session") && (typeof message.session === "object" ? message.session.low || message.session.high : message.session !== 0))
                writer.uint32(17).fixed64(message.session);
            if (message.timeoutMs != null && $Object.hasOwnProperty.call(message, "timeoutMs") && (typeof message.timeoutMs === "object" ? message.timeoutMs.low || message.timeoutMs.high : message.timeoutMs !== 0))
                writer.uint32(24).uint64(message.timeoutMs);
            if (message.passwordHash != null && $Object.hasOwnProperty.call(message, "passwordHash") && message.passwordHash.length)
                writer.uint32(34).bytes(message.passwordHash);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Revalidate.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Revalidate();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.sequence = value;
                        else
                            delete message.sequence;
                        continue;
                    }
                case 2: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.session = value;
                        else
                            delete message.session;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.timeoutMs = value;
                        else
                            delete message.timeoutMs;
                        continue;
                    }
                case 4: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.passwordHash = value;
                        else
                            delete message.passwordHash;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Revalidate;
    })();

    zooid.Revalidated = (function() {

        const Revalidated = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Revalidated.prototype.sequence = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Revalidated.prototype.isValid = false;

        Revalidated.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.sequence != null && $Object.hasOwnProperty.call(message, "sequence") && (typeof message.sequence === "object" ? message.sequence.low || message.sequence.high : message.sequence !== 0))
                writer.uint32(8).uint64(message.sequence);
            if (message.isValid != null && $Object.hasOwnProperty.call(message, "isValid") && message.isValid !== false)
                writer.uint32(16).bool(message.isValid);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Revalidated.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Revalidated();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.sequence = value;
                        else
                            delete message.sequence;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.isValid = value;
                        else
                            delete message.isValid;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Revalidated;
    })();

    zooid.Sync = (function() {

        const Sync = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Sync.prototype.sequence = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        Sync.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.sequence != null && $Object.hasOwnProperty.call(message, "sequence") && (typeof message.sequence === "object" ? message.sequence.low || message.sequence.high : message.sequence !== 0))
                writer.uint32(8).uint64(message.sequence);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Sync.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.Sync();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.sequence = value;
                        else
                            delete message.sequence;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return Sync;
    })();

    zooid.SyncReply = (function() {

        const SyncReply = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        SyncReply.prototype.sequence = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        SyncReply.prototype.readAt = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        SyncReply.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.sequence != null && $Object.hasOwnProperty.call(message, "sequence") && (typeof message.sequence === "object" ? message.sequence.low || message.sequence.high : message.sequence !== 0))
                writer.uint32(8).uint64(message.sequence);
            if (message.readAt != null && $Object.hasOwnProperty.call(message, "readAt") && (typeof message.readAt === "object" ? message.readAt.low || message.readAt.high : message.readAt !== 0))
                writer.uint32(17).fixed64(message.readAt);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        SyncReply.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.SyncReply();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.sequence = value;
                        else
                            delete message.sequence;
                        continue;
                    }
                case 2: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.readAt = value;
                        else
                            delete message.readAt;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return SyncReply;
    })();

    zooid.RelayTo = (function() {

        const RelayTo = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        RelayTo.prototype.leader = 0;

        RelayTo.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.leader != null && $Object.hasOwnProperty.call(message, "leader") && message.leader !== 0)
                writer.uint32(8).uint32(message.leader);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        RelayTo.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.RelayTo();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.leader = value;
                        else
                            delete message.leader;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return RelayTo;
    })();

    zooid.RelayReady = (function() {

        const RelayReady = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        RelayReady.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        RelayReady.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.RelayReady();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                reader.skipType(tag & 7, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return RelayReady;
    })();

    zooid.RelayOpen = (function() {

        const RelayOpen = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        RelayOpen.prototype.channel = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        RelayOpen.prototype.sid = 0;

        RelayOpen.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.channel != null && $Object.hasOwnProperty.call(message, "channel") && (typeof message.channel === "object" ? message.channel.low || message.channel.high : message.channel !== 0))
                writer.uint32(8).uint64(message.channel);
            if (message.sid != null && $Object.hasOwnProperty.call(message, "sid") && message.sid !== 0)
                writer.uint32(16).uint32(message.sid);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        RelayOpen.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.RelayOpen();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.channel = value;
                        else
                            delete message.channel;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.sid = value;
                        else
                            delete message.sid;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return RelayOpen;
    })();

    zooid.RelayClose = (function() {

        const RelayClose = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        RelayClose.prototype.channel = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        RelayClose.prototype.text = "";

        RelayClose.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.channel != null && $Object.hasOwnProperty.call(message, "channel") && (typeof message.channel === "object" ? message.channel.low || message.channel.high : message.channel !== 0))
                writer.uint32(8).uint64(message.channel);
            if (message.text != null && $Object.hasOwnProperty.call(message, "text") && message.text !== "")
                writer.uint32(18).string(message.text);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        RelayClose.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.RelayClose();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.channel = value;
                        else
                            delete message.channel;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.text = value;
                        else
                            delete message.text;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return RelayClose;
    })();

    zooid.RelayBytes = (function() {

        const RelayBytes = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        RelayBytes.prototype.channel = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        RelayBytes.prototype.data = $util.newBuffer([]);

        RelayBytes.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.channel != null && $Object.hasOwnProperty.call(message, "channel") && (typeof message.channel === "object" ? message.channel.low || message.channel.high : message.channel !== 0))
                writer.uint32(8).uint64(message.channel);
            if (message.data != null && $Object.hasOwnProperty.call(message, "data") && message.data.length)
                writer.uint32(18).bytes(message.data);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        RelayBytes.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.RelayBytes();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.channel = value;
                        else
                            delete message.channel;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.data = value;
                        else
                            delete message.data;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return RelayBytes;
    })();

    zooid.RelayRun = (function() {

        const RelayRun = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        RelayRun.prototype.channel = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        RelayRun.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        RelayRun.prototype.previous = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        RelayRun.prototype.first = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        RelayRun.prototype.last = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        RelayRun.prototype.count = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        RelayRun.prototype.committed = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        RelayRun.prototype.check = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        RelayRun.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.channel != null && $Object.hasOwnProperty.call(message, "channel") && (typeof message.channel === "object" ? message.channel.low || message.channel.high : message.channel !== 0))
                writer.uint32(8).uint64(message.channel);
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                writer.uint32(16).uint64(message.epoch);
            if (message.previous != null && $Object.hasOwnProperty.call(message, "previous") && (typeof message.previous === "object" ? message.previous.low || message.previous.high : message.previous !== 0))
                writer.uint32(25).fixed64(message.previous);
            if (message.first != null && $Object.hasOwnProperty.call(message, "first") && (typeof message.first === "object" ? message.first.low || message.first.high : message.first !== 0))
                writer.uint32(33).fixed64(message.first);
            if (message.last != null && $Object.hasOwnProperty.call(message, "last") && (typeof message.last === "object" ? message.last.low || message.last.high : message.last !== 0))
                writer.uint32(41).fixed64(message.last);
            if (message.count != null && $Object.hasOwnProperty.call(message, "count") && (typeof message.count === "object" ? message.count.low || message.count.high : message.count !== 0))
                writer.uint32(48).uint64(message.count);
            if (message.committed != null && $Object.hasOwnProperty.call(message, "committed") && (typeof message.committed === "object" ? message.committed.low || message.committed.high : message.committed !== 0))
                writer.uint32(57).fixed64(message.committed);
            if (message.check != null && $Object.hasOwnProperty.call(message, "check") && (typeof message.check === "object" ? message.check.low || message.check.high : message.check !== 0))
                writer.uint32(64).uint64(message.check);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        RelayRun.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.zooid.RelayRun();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.channel = value;
                        else
                            delete message.channel;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 3: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.previous = value;
                        else
                            delete message.previous;
                        continue;
                    }
                case 4: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.first = value;
                        else
                            delete message.first;
                        continue;
                    }
                case 5: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.last = value;
                        else
                            delete message.last;
                        continue;
                    }
                case 6: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.count = value;
                        else
                            delete message.count;
                        continue;
                    }
                case 7: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.fixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.committed = value;
                        else
                            delete message.committed;
                        continue;
                    }
                case 8: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.check = value;
                        else
                            delete message.check;
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        return RelayRun;
    })();

    return zooid;
})();

export {
  $root as default
};
