import * as $protobuf from "protobufjs";
import Long = require("long");

export namespace zooid {

    interface ITxn extends zooid.Txn.$Properties {
    }

    class Txn {
        constructor(properties?: zooid.Txn.$Properties);
        $unknowns?: Uint8Array[];
        session: (number|Long);
        cxid: number;
        timeMs: (number|Long);
        origin: number;
        originSeq: (number|Long);
        op: number;
        ops: zooid.Op.$Properties[];
        who: Uint8Array;
        static encode(message: zooid.Txn.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Txn & zooid.Txn.$Shape;
    }

    namespace Txn {
        interface $Properties {
            session?: (number|Long|null);
            cxid?: (number|null);
            timeMs?: (number|Long|null);
            origin?: (number|null);
            originSeq?: (number|Long|null);
            op?: (number|null);
            ops?: (zooid.Op.$Properties[]|null);
            who?: (Uint8Array|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Txn.$Properties;
    }

    interface IOp extends zooid.Op.$Properties {
    }

    class Op {
        constructor(properties?: zooid.Op.$Properties);
        $unknowns?: Uint8Array[];
        op: number;
        path: Uint8Array;
        node: (number|Long);
        parent: (number|Long);
        data?: (Uint8Array|null);
        acl?: (zooid.Acl.$Properties|null);
        owner: (number|Long);
        version: number;
        parentCversion: number;
        code: number;
        failedIndex: number;
        opCount: number;
        timeoutMs: number;
        passwordHash: Uint8Array;
        static encode(message: zooid.Op.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Op & zooid.Op.$Shape;
    }

    namespace Op {
        interface $Properties {
            op?: (number|null);
            path?: (Uint8Array|null);
            node?: (number|Long|null);
            parent?: (number|Long|null);
            data?: (Uint8Array|null);
            acl?: (zooid.Acl.$Properties|null);
            owner?: (number|Long|null);
            version?: (number|null);
            parentCversion?: (number|null);
            code?: (number|null);
            failedIndex?: (number|null);
            opCount?: (number|null);
            timeoutMs?: (number|null);
            passwordHash?: (Uint8Array|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Op.$Properties;
    }

    interface IAcl extends zooid.Acl.$Properties {
    }

    class Acl {
        constructor(properties?: zooid.Acl.$Properties);
        $unknowns?: Uint8Array[];
        entries: zooid.AclEntry.$Properties[];
        static encode(message: zooid.Acl.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.Acl & zooid.Acl.$Shape;
    }

    namespace Acl {
        interface $Properties {
            entries?: (zooid.AclEntry.$Properties[]|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.Acl.$Properties;
    }

    interface IAclEntry extends zooid.AclEntry.$Properties {
    }

    class AclEntry {
        constructor(properties?: zooid.AclEntry.$Properties);
        $unknowns?: Uint8Array[];
        perms: number;
        scheme: string;
        id: string;
        static encode(message: zooid.AclEntry.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): zooid.AclEntry & zooid.AclEntry.$Shape;
    }

    namespace AclEntry {
        interface $Properties {
            perms?: (number|null);
            scheme?: (string|null);
            id?: (string|null);
            $unknowns?: Uint8Array[];
        }
        type $Shape = zooid.AclEntry.$Properties;
    }
}
