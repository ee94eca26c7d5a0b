import * as $protobuf from "protobufjs";
import Long = require("long");

/** Namespace zooid. */
export namespace zooid {

    /**
     * Properties of a Txn.
     * @deprecated Use zooid.Txn.$Properties instead.
     */
    interface ITxn extends zooid.Txn.$Properties {
    }

    /** Represents a Txn. */
    class Txn {

        /**
         * Constructs a new Txn.
         * @param [properties] Properties to set
         */
        constructor(properties?: zooid.Txn.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** Txn session. */
        session: (number|Long);

        /** Txn cxid. */
        cxid: number;

        /** Txn timeMs. */
        timeMs: (number|Long);

        /** Txn origin. */
        origin: number;

        /** Txn originSeq. */
        originSeq: (number|Long);

        /** Txn op. */
        op: number;

        /** Txn ops. */
        ops: zooid.Op.$Properties[];

        /**
         * Encodes the specified Txn message. Does not implicitly {@link zooid.Txn.verify|verify} messages.
         * @param message Txn message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: zooid.Txn.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a Txn message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {zooid.Txn & zooid.Txn.$Shape} Txn
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Txn & zooid.Txn.$Shape;
    }

    namespace Txn {

        /** Properties of a Txn. */
        interface $Properties {

            /** Txn session */
            session?: (number|Long|null);

            /** Txn cxid */
            cxid?: (number|null);

            /** Txn timeMs */
            timeMs?: (number|Long|null);

            /** Txn origin */
            origin?: (number|null);

            /** Txn originSeq */
            originSeq?: (number|Long|null);

            /** Txn op */
            op?: (number|null);

            /** Txn ops */
            ops?: (zooid.Op.$Properties[]|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a Txn. */
        type $Shape = zooid.Txn.$Properties;
    }

    /**
     * Properties of an Op.
     * @deprecated Use zooid.Op.$Properties instead.
     */
    interface IOp extends zooid.Op.$Properties {
    }

    /** Represents an Op. */
    class Op {

        /**
         * Constructs a new Op.
         * @param [properties] Properties to set
         */
        constructor(properties?: zooid.Op.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** Op op. */
        op: number;

        /** Op path. */
        path: Uint8Array;

        /** Op node. */
        node: (number|Long);

        /** Op parent. */
        parent: (number|Long);

        /** Op data. */
        data?: (Uint8Array|null);

        /** Op acl. */
        acl?: (zooid.Acl.$Properties|null);

        /** Op owner. */
        owner: (number|Long);

        /** Op version. */
        version: number;

        /** Op parentCversion. */
        parentCversion: number;

        /** Op code. */
        code: number;

        /** Op failedIndex. */
        failedIndex: number;

        /** Op opCount. */
        opCount: number;

        /** Op timeoutMs. */
        timeoutMs: number;

        /** Op passwordHash. */
        passwordHash: Uint8Array;

        /**
         * Encodes the specified Op message. Does not implicitly {@link zooid.Op.verify|verify} messages.
         * @param message Op message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: zooid.Op.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes an Op message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {zooid.Op & zooid.Op.$Shape} Op
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Op & zooid.Op.$Shape;
    }

    namespace Op {

        /** Properties of an Op. */
        interface $Properties {

            /** Op op */
            op?: (number|null);

            /** Op path */
            path?: (Uint8Array|null);

            /** Op node */
            node?: (number|Long|null);

            /** Op parent */
            parent?: (number|Long|null);

            /** Op data */
            data?: (Uint8Array|null);

            /** Op acl */
            acl?: (zooid.Acl.$Properties|null);

            /** Op owner */
            owner?: (number|Long|null);

            /** Op version */
            version?: (number|null);

            /** Op parentCversion */
            parentCversion?: (number|null);

            /** Op code */
            code?: (number|null);

            /** Op failedIndex */
            failedIndex?: (number|null);

            /** Op opCount */
            opCount?: (number|null);

            /** Op timeoutMs */
            timeoutMs?: (number|null);

            /** Op passwordHash */
            passwordHash?: (Uint8Array|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of an Op. */
        type $Shape = zooid.Op.$Properties;
    }

    /**
     * Properties of an Acl.
     * @deprecated Use zooid.Acl.$Properties instead.
     */
    interface IAcl extends zooid.Acl.$Properties {
    }

    /** Represents an Acl. */
    class Acl {

        /**
         * Constructs a new Acl.
         * @param [properties] Properties to set
         */
        constructor(properties?: zooid.Acl.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** Acl entries. */
        entries: zooid.AclEntry.$Properties[];

        /**
         * Encodes the specified Acl message. Does not implicitly {@link zooid.Acl.verify|verify} messages.
         * @param message Acl message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: zooid.Acl.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes an Acl message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {zooid.Acl & zooid.Acl.$Shape} Acl
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Acl & zooid.Acl.$Shape;
    }

    namespace Acl {

        /** Properties of an Acl. */
        interface $Properties {

            /** Acl entries */
            entries?: (zooid.AclEntry.$Properties[]|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of an Acl. */
        type $Shape = zooid.Acl.$Properties;
    }

    /**
     * Properties of an AclEntry.
     * @deprecated Use zooid.AclEntry.$Properties instead.
     */
    interface IAclEntry extends zooid.AclEntry.$Properties {
    }

    /** Represents an AclEntry. */
    class AclEntry {

        /**
         * Constructs a new AclEntry.
         * @param [properties] Properties to set
         */
        constructor(properties?: zooid.AclEntry.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** AclEntry perms. */
        perms: number;

        /** AclEntry scheme. */
        scheme: string;

        /** AclEntry id. */
        id: string;

        /**
         * Encodes the specified AclEntry message. Does not implicitly {@link zooid.AclEntry.verify|verify} messages.
         * @param message AclEntry message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: zooid.AclEntry.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes an AclEntry message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {zooid.AclEntry & zooid.AclEntry.$Shape} AclEntry
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.AclEntry & zooid.AclEntry.$Shape;
    }

    namespace AclEntry {

        /** Properties of an AclEntry. */
        interface $Properties {

            /** AclEntry perms */
            perms?: (number|null);

            /** AclEntry scheme */
            scheme?: (string|null);

            /** AclEntry id */
            id?: (string|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of an AclEntry. */
        type $Shape = zooid.AclEntry.$Properties;
    }
}
