/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

// Common aliases
const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

// Exported root namespace
const $root = $protobuf.roots["zooid"] || ($protobuf.roots["zooid"] = {});

export const zooid = $root.zooid = (() => {

    /**
     * Namespace zooid.
     * @exports zooid
     * @namespace
     */
    const zooid = {};

    zooid.Txn = (function() {

        /**
         * Properties of a Txn.
         * @typedef {Object} zooid.Txn.$Properties
         * @property {number|Long|null} [session] Txn session
         * @property {number|null} [cxid] Txn cxid
         * @property {number|Long|null} [timeMs] Txn timeMs
         * @property {number|null} [origin] Txn origin
         * @property {number|Long|null} [originSeq] Txn originSeq
         * @property {number|null} [op] Txn op
         * @property {Array.<zooid.Op.$Properties>|null} [ops] Txn ops
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a Txn.
         * @memberof zooid
         * @interface ITxn
         * @augments zooid.Txn.$Properties
         * @deprecated Use zooid.Txn.$Properties instead.
         */

        /**
         * Shape of a Txn.
         * @typedef {zooid.Txn.$Properties} zooid.Txn.$Shape
         */

        /**
         * Constructs a new Txn.
         * @memberof zooid
         * @classdesc Represents a Txn.
         * @constructor
         * @param {zooid.Txn.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const Txn = function (properties) {
            this.ops = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * Txn session.
         * @member {number|Long} session
         * @memberof zooid.Txn
         * @instance
         */
        Txn.prototype.session = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

        /**
         * Txn cxid.
         * @member {number} cxid
         * @memberof zooid.Txn
         * @instance
         */
        Txn.prototype.cxid = 0;

        /**
         * Txn timeMs.
         * @member {number|Long} timeMs
         * @memberof zooid.Txn
         * @instance
         */
        Txn.prototype.timeMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * Txn origin.
         * @member {number} origin
         * @memberof zooid.Txn
         * @instance
         */
        Txn.prototype.origin = 0;

        /**
         * Txn originSeq.
         * @member {number|Long} originSeq
         * @memberof zooid.Txn
         * @instance
         */
        Txn.prototype.originSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * Txn op.
         * @member {number} op
         * @memberof zooid.Txn
         * @instance
         */
        Txn.prototype.op = 0;

        /**
         * Txn ops.
         * @member {Array.<zooid.Op.$Properties>} ops
         * @memberof zooid.Txn
         * @instance
         */
        Txn.prototype.ops = $util.emptyArray;

        /**
         * Encodes the specified Txn message. Does not implicitly {@link zooid.Txn.verify|verify} messages.
         * @function encode
         * @memberof zooid.Txn
         * @static
         * @param {zooid.Txn.$Properties} message Txn message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        Txn.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.session != null && $Object.hasOwnProperty.call(message, "session") && (typeof message.session === "object" ? message.session.low || message.session.high : message.session !== 0))
                writer.uint32(/* id 1, wireType 1 =*/9).sfixed64(message.session);
            if (message.cxid != null && $Object.hasOwnProperty.call(message, "cxid") && message.cxid !== 0)
                writer.uint32(/* id 2, wireType 0 =*/16).sint32(message.cxid);
            if (message.timeMs != null && $Object.hasOwnProperty.call(message, "timeMs") && (typeof message.timeMs === "object" ? message.timeMs.low || message.timeMs.high : message.timeMs !== 0))
                writer.uint32(/* id 3, wireType 0 =*/24).uint64(message.timeMs);
            if (message.origin != null && $Object.hasOwnProperty.call(message, "origin") && message.origin !== 0)
                writer.uint32(/* id 4, wireType 0 =*/32).uint32(message.origin);
            if (message.originSeq != null && $Object.hasOwnProperty.call(message, "originSeq") && (typeof message.originSeq === "object" ? message.originSeq.low || message.originSeq.high : message.originSeq !== 0))
                writer.uint32(/* id 5, wireType 0 =*/40).uint64(message.originSeq);
            if (message.op != null && $Object.hasOwnProperty.call(message, "op") && message.op !== 0)
                writer.uint32(/* id 6, wireType 0 =*/48).sint32(message.op);
            if (message.ops != null && message.ops.length)
                for (let i = 0; i < message.ops.length; ++i)
                    $root.zooid.Op.encode(message.ops[i], writer.uint32(/* id 7, wireType 2 =*/58).fork(), _depth + 1).ldelim();
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a Txn message from the specified reader or buffer.
         * @function decode
         * @memberof zooid.Txn
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {zooid.Txn & zooid.Txn.$Shape} Txn
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
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

        /**
         * Properties of an Op.
         * @typedef {Object} zooid.Op.$Properties
         * @property {number|null} [op] Op op
         * @property {Uint8Array|null} [path] Op path
         * @property {number|Long|null} [node] Op node
         * @property {number|Long|null} [parent] Op parent
         * @property {Uint8Array|null} [data] Op data
         * @property {zooid.Acl.$Properties|null} [acl] Op acl
         * @property {number|Long|null} [owner] Op owner
         * @property {number|null} [version] Op version
         * @property {number|null} [parentCversion] Op parentCversion
         * @property {number|null} [code] Op code
         * @property {number|null} [failedIndex] Op failedIndex
         * @property {number|null} [opCount] Op opCount
         * @property {number|null} [timeoutMs] Op timeoutMs
         * @property {Uint8Array|null} [passwordHash] Op passwordHash
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of an Op.
         * @memberof zooid
         * @interface IOp
         * @augments zooid.Op.$Properties
         * @deprecated Use zooid.Op.$Properties instead.
         */

        /**
         * Shape of an Op.
         * @typedef {zooid.Op.$Properties} zooid.Op.$Shape
         */

        /**
         * Constructs a new Op.
         * @memberof zooid
         * @classdesc Represents an Op.
         * @constructor
         * @param {zooid.Op.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const Op = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * Op op.
         * @member {number} op
         * @memberof zooid.Op
         * @instance
         */
        Op.prototype.op = 0;

        /**
         * Op path.
         * @member {Uint8Array} path
         * @memberof zooid.Op
         * @instance
         */
        Op.prototype.path = $util.newBuffer([]);

        /**
         * Op node.
         * @member {number|Long} node
         * @memberof zooid.Op
         * @instance
         */
        Op.prototype.node = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * Op parent.
         * @member {number|Long} parent
         * @memberof zooid.Op
         * @instance
         */
        Op.prototype.parent = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * Op data.
         * @member {Uint8Array|null|undefined} data
         * @memberof zooid.Op
         * @instance
         */
        Op.prototype.data = null;

        /**
         * Op acl.
         * @member {zooid.Acl.$Properties|null|undefined} acl
         * @memberof zooid.Op
         * @instance
         */
        Op.prototype.acl = null;

        /**
         * Op owner.
         * @member {number|Long} owner
         * @memberof zooid.Op
         * @instance
         */
        Op.prototype.owner = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

        /**
         * Op version.
         * @member {number} version
         * @memberof zooid.Op
         * @instance
         */
        Op.prototype.version = 0;

        /**
         * Op parentCversion.
         * @member {number} parentCversion
         * @memberof zooid.Op
         * @instance
         */
        Op.prototype.parentCversion = 0;

        /**
         * Op code.
         * @member {number} code
         * @memberof zooid.Op
         * @instance
         */
        Op.prototype.code = 0;

        /**
         * Op failedIndex.
         * @member {number} failedIndex
         * @memberof zooid.Op
         * @instance
         */
        Op.prototype.failedIndex = 0;

        /**
         * Op opCount.
         * @member {number} opCount
         * @memberof zooid.Op
         * @instance
         */
        Op.prototype.opCount = 0;

        /**
         * Op timeoutMs.
         * @member {number} timeoutMs
         * @memberof zooid.Op
         * @instance
         */
        Op.prototype.timeoutMs = 0;

        /**
         * Op passwordHash.
         * @member {Uint8Array} passwordHash
         * @memberof zooid.Op
         * @instance
         */
        Op.prototype.passwordHash = $util.newBuffer([]);

        // OneOf field names bound to virtual getters and setters
        let $oneOfFields;

        // Virtual OneOf for proto3 optional field
        $Object.defineProperty(Op.prototype, "_data", {
            get: $util.oneOfGetter($oneOfFields = ["data"]),
            set: $util.oneOfSetter($oneOfFields)
        });

        /**
         * Encodes the specified Op message. Does not implicitly {@link zooid.Op.verify|verify} messages.
         * @function encode
         * @memberof zooid.Op
         * @static
         * @param {zooid.Op.$Properties} message Op message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        Op.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.op != null && $Object.hasOwnProperty.call(message, "op") && message.op !== 0)
                writer.uint32(/* id 1, wireType 0 =*/8).sint32(message.op);
            if (message.path != null && $Object.hasOwnProperty.call(message, "path") && message.path.length)
                writer.uint32(/* id 2, wireType 2 =*/18).bytes(message.path);
            if (message.node != null && $Object.hasOwnProperty.call(message, "node") && (typeof message.node === "object" ? message.node.low || message.node.high : message.node !== 0))
                writer.uint32(/* id 3, wireType 0 =*/24).uint64(message.node);
            if (message.parent != null && $Object.hasOwnProperty.call(message, "parent") && (typeof message.parent === "object" ? message.parent.low || message.parent.high : message.parent !== 0))
                writer.uint32(/* id 4, wireType 0 =*/32).uint64(message.parent);
            if (message.data != null && $Object.hasOwnProperty.call(message, "data"))
                writer.uint32(/* id 5, wireType 2 =*/42).bytes(message.data);
            if (message.acl != null && $Object.hasOwnProperty.call(message, "acl"))
                $root.zooid.Acl.encode(message.acl, writer.uint32(/* id 6, wireType 2 =*/50).fork(), _depth + 1).ldelim();
            if (message.owner != null && $Object.hasOwnProperty.call(message, "owner") && (typeof message.owner === "object" ? message.owner.low || message.owner.high : message.owner !== 0))
                writer.uint32(/* id 7, wireType 1 =*/57).sfixed64(message.owner);
            if (message.version != null && $Object.hasOwnProperty.call(message, "version") && message.version !== 0)
                writer.uint32(/* id 8, wireType 0 =*/64).sint32(message.version);
            if (message.parentCversion != null && $Object.hasOwnProperty.call(message, "parentCversion") && message.parentCversion !== 0)
                writer.uint32(/* id 9, wireType 0 =*/72).sint32(message.parentCversion);
            if (message.code != null && $Object.hasOwnProperty.call(message, "code") && message.code !== 0)
                writer.uint32(/* id 10, wireType 0 =*/80).sint32(message.code);
            if (message.failedIndex != null && $Object.hasOwnProperty.call(message, "failedIndex") && message.failedIndex !== 0)
                writer.uint32(/* id 11, wireType 0 =*/88).uint32(message.failedIndex);
            if (message.opCount != null && $Object.hasOwnProperty.call(message, "opCount") && message.opCount !== 0)
                writer.uint32(/* id 12, wireType 0 =*/96).uint32(message.opCount);
            if (message.timeoutMs != null && $Object.hasOwnProperty.call(message, "timeoutMs") && message.timeoutMs !== 0)
                writer.uint32(/* id 13, wireType 0 =*/104).uint32(message.timeoutMs);
            if (message.passwordHash != null && $Object.hasOwnProperty.call(message, "passwordHash") && message.passwordHash.length)
                writer.uint32(/* id 14, wireType 2 =*/114).bytes(message.passwordHash);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes an Op message from the specified reader or buffer.
         * @function decode
         * @memberof zooid.Op
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {zooid.Op & zooid.Op.$Shape} Op
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
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

        /**
         * Properties of an Acl.
         * @typedef {Object} zooid.Acl.$Properties
         * @property {Array.<zooid.AclEntry.$Properties>|null} [entries] Acl entries
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of an Acl.
         * @memberof zooid
         * @interface IAcl
         * @augments zooid.Acl.$Properties
         * @deprecated Use zooid.Acl.$Properties instead.
         */

        /**
         * Shape of an Acl.
         * @typedef {zooid.Acl.$Properties} zooid.Acl.$Shape
         */

        /**
         * Constructs a new Acl.
         * @memberof zooid
         * @classdesc Represents an Acl.
         * @constructor
         * @param {zooid.Acl.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const Acl = function (properties) {
            this.entries = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * Acl entries.
         * @member {Array.<zooid.AclEntry.$Properties>} entries
         * @memberof zooid.Acl
         * @instance
         */
        Acl.prototype.entries = $util.emptyArray;

        /**
         * Encodes the specified Acl message. Does not implicitly {@link zooid.Acl.verify|verify} messages.
         * @function encode
         * @memberof zooid.Acl
         * @static
         * @param {zooid.Acl.$Properties} message Acl message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        Acl.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.entries != null && message.entries.length)
                for (let i = 0; i < message.entries.length; ++i)
                    $root.zooid.AclEntry.encode(message.entries[i], writer.uint32(/* id 1, wireType 2 =*/10).fork(), _depth + 1).ldelim();
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes an Acl message from the specified reader or buffer.
         * @function decode
         * @memberof zooid.Acl
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {zooid.Acl & zooid.Acl.$Shape} Acl
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
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

        /**
         * Properties of an AclEntry.
         * @typedef {Object} zooid.AclEntry.$Properties
         * @property {number|null} [perms] AclEntry perms
         * @property {string|null} [scheme] AclEntry scheme
         * @property {string|null} [id] AclEntry id
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of an AclEntry.
         * @memberof zooid
         * @interface IAclEntry
         * @augments zooid.AclEntry.$Properties
         * @deprecated Use zooid.AclEntry.$Properties instead.
         */

        /**
         * Shape of an AclEntry.
         * @typedef {zooid.AclEntry.$Properties} zooid.AclEntry.$Shape
         */

        /**
         * Constructs a new AclEntry.
         * @memberof zooid
         * @classdesc Represents an AclEntry.
         * @constructor
         * @param {zooid.AclEntry.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const AclEntry = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * AclEntry perms.
         * @member {number} perms
         * @memberof zooid.AclEntry
         * @instance
         */
        AclEntry.prototype.perms = 0;

        /**
         * AclEntry scheme.
         * @member {string} scheme
         * @memberof zooid.AclEntry
         * @instance
         */
        AclEntry.prototype.scheme = "";

        /**
         * AclEntry id.
         * @member {string} id
         * @memberof zooid.AclEntry
         * @instance
         */
        AclEntry.prototype.id = "";

        /**
         * Encodes the specified AclEntry message. Does not implicitly {@link zooid.AclEntry.verify|verify} messages.
         * @function encode
         * @memberof zooid.AclEntry
         * @static
         * @param {zooid.AclEntry.$Properties} message AclEntry message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        AclEntry.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.perms != null && $Object.hasOwnProperty.call(message, "perms") && message.perms !== 0)
                writer.uint32(/* id 1, wireType 0 =*/8).sint32(message.perms);
            if (message.scheme != null && $Object.hasOwnProperty.call(message, "scheme") && message.scheme !== "")
                writer.uint32(/* id 2, wireType 2 =*/18).string(message.scheme);
            if (message.id != null && $Object.hasOwnProperty.call(message, "id") && message.id !== "")
                writer.uint32(/* id 3, wireType 2 =*/26).string(message.id);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes an AclEntry message from the specified reader or buffer.
         * @function decode
         * @memberof zooid.AclEntry
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {zooid.AclEntry & zooid.AclEntry.$Shape} AclEntry
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
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
