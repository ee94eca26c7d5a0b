/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

const $root = $protobuf.roots["zooid-txn"] || ($protobuf.roots["zooid-txn"] = {});

export const zooid = $root.zooid = (() => {

    const zooid = {};

    zooid.Txn = (function() {

        const Txn = function (properties) {
            this.ops = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Txn.prototype.session = $util.Long ? $util.Long.fromBits(0,0,false) : 0;
        Txn.prototype.cxid = 0;
        Txn.prototype.timeMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Txn.prototype.origin = 0;
        Txn.prototype.originSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Txn.prototype.op = 0;
        Txn.prototype.ops = $util.emptyArray;
        Txn.prototype.who = $util.newBuffer([]);

        Txn.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.session != null && $Object.hasOwnProperty.call(message, "session") && (typeof message.session === "object" ? message.session.low || message.session.high : message.session !== 0))
                writer.uint32(9).sfixed64(message.session);
            if (message.cxid != null && $Object.hasOwnProperty.call(message, "cxid") && message.cxid !== 0)
                writer.uint32(16).sint32(message.cxid);
            if (message.timeMs != null && $Object.hasOwnProperty.call(message, "timeMs") && (typeof message.timeMs === "object" ? message.timeMs.low || message.timeMs.high : message.timeMs !== 0))
                writer.uint32(24).uint64(message.timeMs);
            if (message.origin != null && $Object.hasOwnProperty.call(message, "origin") && message.origin !== 0)
                writer.uint32(32).uint32(message.origin);
            if (message.originSeq != null && $Object.hasOwnProperty.call(message, "originSeq") && (typeof message.originSeq === "object" ? message.originSeq.low || message.originSeq.high : message.originSeq !== 0))
                writer.uint32(40).uint64(message.originSeq);
            if (message.op != null && $Object.hasOwnProperty.call(message, "op") && message.op !== 0)
                writer.uint32(48).sint32(message.op);
            if (message.ops != null && message.ops.length)
                for (let i = 0; i < message.ops.length; ++i)
                    $root.zooid.Op.encode(message.ops[i], writer.uint32(58).fork(), _depth + 1).ldelim();
            if (message.who != null && $Object.hasOwnProperty.call(message, "who") && message.who.length)
                writer.uint32(66).bytes(message.who);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Txn.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.zooid.Txn();
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
                        if (typeof (value = reader.sfixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.session = value;
                        else
                            delete message.session;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.sint32())
                            message.cxid = value;
                        else
                            delete message.cxid;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.timeMs = value;
                        else
                            delete message.timeMs;
                        continue;
                    }
                case 4: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.origin = value;
                        else
                            delete message.origin;
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.originSeq = value;
                        else
                            delete message.originSeq;
                        continue;
                    }
                case 6: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.sint32())
                            message.op = value;
                        else
                            delete message.op;
                        continue;
                    }
                case 7: {
                        if (wireType !== 2)
                            break;
                        if (!(message.ops && message.ops.length))
                            message.ops = [];
                        message.ops.push($root.zooid.Op.decode(reader, reader.size(), $undefined, _depth + 1));
                        continue;
                    }
                case 8: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.who = value;
                        else
                            delete message.who;
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

        return Txn;
    })();

    zooid.Op = (function() {

        const Op = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Op.prototype.op = 0;
        Op.prototype.path = $util.newBuffer([]);
        Op.prototype.node = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Op.prototype.parent = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
        Op.prototype.data = null;
        Op.prototype.acl = null;
        Op.prototype.owner = $util.Long ? $util.Long.fromBits(0,0,false) : 0;
        Op.prototype.version = 0;
        Op.prototype.parentCversion = 0;
        Op.prototype.code = 0;
        Op.prototype.failedIndex = 0;
        Op.prototype.opCount = 0;
        Op.prototype.timeoutMs = 0;
        Op.prototype.passwordHash = $util.newBuffer([]);

        let $oneOfFields;

        // Virtual OneOf for proto3 optional field
        $Object.defineProperty(Op.prototype, "_data", {
            get: $util.oneOfGetter($oneOfFields = ["data"]),
            set: $util.oneOfSetter($oneOfFields)
        });

        Op.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.op != null && $Object.hasOwnProperty.call(message, "op") && message.op !== 0)
                writer.uint32(8).sint32(message.op);
            if (message.path != null && $Object.hasOwnProperty.call(message, "path") && message.path.length)
                writer.uint32(18).bytes(message.path);
            if (message.node != null && $Object.hasOwnProperty.call(message, "node") && (typeof message.node === "object" ? message.node.low || message.node.high : message.node !== 0))
                writer.uint32(24).uint64(message.node);
            if (message.parent != null && $Object.hasOwnProperty.call(message, "parent") && (typeof message.parent === "object" ? message.parent.low || message.parent.high : message.parent !== 0))
                writer.uint32(32).uint64(message.parent);
            if (message.data != null && $Object.hasOwnProperty.call(message, "data"))
                writer.uint32(42).bytes(message.data);
            if (message.acl != null && $Object.hasOwnProperty.call(message, "acl"))
                $root.zooid.Acl.encode(message.acl, writer.uint32(50).fork(), _depth + 1).ldelim();
            if (message.owner != null && $Object.hasOwnProperty.call(message, "owner") && (typeof message.owner === "object" ? message.owner.low || message.owner.high : message.owner !== 0))
                writer.uint32(57).sfixed64(message.owner);
            if (message.version != null && $Object.hasOwnProperty.call(message, "version") && message.version !== 0)
                writer.uint32(64).sint32(message.version);
            if (message.parentCversion != null && $Object.hasOwnProperty.call(message, "parentCversion") && message.parentCversion !== 0)
                writer.uint32(72).sint32(message.parentCversion);
            if (message.code != null && $Object.hasOwnProperty.call(message, "code") && message.code !== 0)
                writer.uint32(80).sint32(message.code);
            if (message.failedIndex != null && $Object.hasOwnProperty.call(message, "failedIndex") && message.failedIndex !== 0)
                writer.uint32(88).uint32(message.failedIndex);
            if (message.opCount != null && $Object.hasOwnProperty.call(message, "opCount") && message.opCount !== 0)
                writer.uint32(96).uint32(message.opCount);
            if (message.timeoutMs != null && $Object.hasOwnProperty.call(message, "timeoutMs") && message.timeoutMs !== 0)
                writer.uint32(104).uint32(message.timeoutMs);
            if (message.passwordHash != null && $Object.hasOwnProperty.call(message, "passwordHash") && message.passwordHash.length)
                writer.uint32(114).bytes(message.passwordHash);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Op.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.zooid.Op();
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
                        if (value = reader.sint32())
                            message.op = value;
                        else
                            delete message.op;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.path = value;
                        else
                            delete message.path;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.node = value;
                        else
                            delete message.node;
                        continue;
                    }
                case 4: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.parent = value;
                        else
                            delete message.parent;
                        continue;
                    }
                case 5: {
                        if (wireType !== 2)
                            break;
                        message.data = reader.bytes();
                        message._data = "data";
                        continue;
                    }
                case 6: {
                        if (wireType !== 2)
                            break;
                        message.acl = $root.zooid.Acl.decode(reader, reader.size(), $undefined, _depth + 1, message.acl);
                        continue;
                    }
                case 7: {
                        if (wireType !== 1)
                            break;
                        if (typeof (value = reader.sfixed64()) === "object" ? value.low || value.high : value !== 0)
                            message.owner = value;
                        else
                            delete message.owner;
                        continue;
                    }
                case 8: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.sint32())
                            message.version = value;
                        else
                            delete message.version;
                        continue;
                    }
                case 9: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.sint32())
                            message.parentCversion = value;
                        else
                            delete message.parentCversion;
                        continue;
                    }
                case 10: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.sint32())
                            message.code = value;
                        else
                            delete message.code;
                        continue;
                    }
                case 11: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.failedIndex = value;
                        else
                            delete message.failedIndex;
                        continue;
                    }
                case 12: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.opCount = value;
                        else
                            delete message.opCount;
                        continue;
                    }
                case 13: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.timeoutMs = value;
                        else
                            delete message.timeoutMs;
                        continue;
                    }
                case 14: {
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

        return Op;
    })();

    zooid.Acl = (function() {

        const Acl = function (properties) {
            this.entries = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        Acl.prototype.entries = $util.emptyArray;

        Acl.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.entries != null && message.entries.length)
                for (let i = 0; i < message.entries.length; ++i)
                    $root.zooid.AclEntry.encode(message.entries[i], writer.uint32(10).fork(), _depth + 1).ldelim();
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        Acl.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.zooid.Acl();
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
                        if (!(message.entries && message.entries.length))
                            message.entries = [];
                        message.entries.push($root.zooid.AclEntry.decode(reader, reader.size(), $undefined, _depth + 1));
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

        return Acl;
    })();

    zooid.AclEntry = (function() {

        const AclEntry = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        AclEntry.prototype.perms = 0;
        AclEntry.prototype.scheme = "";
        AclEntry.prototype.id = "";

        AclEntry.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.perms != null && $Object.hasOwnProperty.call(message, "perms") && message.perms !== 0)
                writer.uint32(8).sint32(message.perms);
            if (message.scheme != null && $Object.hasOwnProperty.call(message, "scheme") && message.scheme !== "")
                writer.uint32(18).string(message.scheme);
            if (message.id != null && $Object.hasOwnProperty.call(message, "id") && message.id !== "")
                writer.uint32(26).string(message.id);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        AclEntry.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.zooid.AclEntry();
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
                        if (value = reader.sint32())
                            message.perms = value;
                        else
                            delete message.perms;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.scheme = value;
                        else
                            delete message.scheme;
                        continue;
                    }
                case 3: {
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

        return AclEntry;
    })();

    return zooid;
})();

export {
  $root as default
};
