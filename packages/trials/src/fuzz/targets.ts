import { crc32 } from "node:zlib";
import { ApachePeerError } from "@zooid/apache-peer";
import { leader, snapshot } from "@zooid/apache-peer/testing/leader-packets";
import { Observed } from "@zooid/apache-peer/testing/observed";
import { JuteWriter as PlainWriter } from "@zooid/conformance/internal/jute";
import * as bodies from "@zooid/conformance/internal/wire";
import { ConfigError } from "@zooid/embedded-server";
import { parseServerConfig } from "@zooid/embedded-server/internal/config";
import { parseJaas } from "@zooid/java-files/internal/jaas-file";
import {
  composeZxid,
  FRAME_HEADER_BYTES,
  newRequest,
  newTxnHeader,
  newTxnOp,
  pathFault,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import { decodeEnvelope, EnvelopeWriter, envelopeBytesMax, PeerFrameReader } from "@zooid/peer-protocol";
import { StoreError } from "@zooid/txn-log";
import { ApacheSnapshotDecoder } from "@zooid/txn-log/internal/apache/apache-snapshot-decoder";
import { APACHE_SNAPSHOT } from "@zooid/txn-log/testing/apache-snapshot";
import {
  AclReader,
  Framer,
  JuteReader,
  RequestReader,
  readConnectRequest,
  readConnectResponse,
  readPartResults,
  readWatcherEvent,
  WireError,
} from "@zooid/wire";
import { apacheTransaction } from "@zooid/wire/apache";
import { ApacheType, recordOf, transaction } from "@zooid/wire/testing/apache-transactions";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/txn";
import { parseConfigFile } from "zooid-server/internal/configuration/config-file";
import { jvmSettings } from "zooid-server/internal/configuration/jvm-flags";
import { parseProperties } from "zooid-server/internal/configuration/properties";
import { LiveServer } from "./live-server.ts";
import type { FuzzTarget } from "./target.ts";

const ACL = bodies.OPEN_ACL;
const plain = (): PlainWriter => new PlainWriter();
const asked = (opcode: number, body: Buffer): Buffer => Buffer.concat([plain().int(7).int(opcode).bytes(), body]);
const { OP } = bodies;

const REQUESTS: readonly Buffer[] = [
  asked(OP.create, bodies.create("/a/b", { data: "value", acl: ACL, flags: 3 })),
  asked(OP.createTtl, bodies.create("/a/b", { data: "value", flags: 5, ttl: 1000n })),
  asked(OP.setData, bodies.setData("/a", "value", 3)),
  asked(OP.setAcl, bodies.setAcl("/a", [[31, "digest", "a:b"], ...ACL])),
  asked(OP.delete, bodies.versioned("/a", -1)),
  asked(OP.getData, bodies.read("/a", true)),
  asked(OP.multi, bodies.multi([OP.create, bodies.create("/m")], [OP.check, bodies.versioned("/a", 1)])),
  asked(OP.multiRead, bodies.multi([OP.getData, bodies.read("/a")], [OP.getChildren, bodies.read("/")])),
  asked(OP.setWatches2, bodies.setWatches(12n, [["/a"], ["/b", "/c"], [], ["/d"], ["/e"]])),
  asked(OP.auth, bodies.auth("digest", "user:password")),
  asked(OP.addWatch, bodies.watchOn("/a", 1)),
  asked(OP.reconfig, plain().string("server.1=h:1:2").string("2").string("").long(-1n).bytes()),
];

/** Runs what may throw only what it says; anything else is the finding. */
function allowing(kind: abstract new (...args: never[]) => Error, run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof kind)) throw error;
  }
}

/** From a leader: in pieces, with a position or without one. */
function observe(input: Buffer): void {
  const position = input.length % 2 === 0 ? undefined : composeZxid(5, 3);
  for (const pieceBytes of [input.length + 1, 7]) {
    allowing(ApachePeerError, () =>
      new Observed({ acceptedEpoch: 5, currentEpoch: 5, position }).take([input], pieceBytes),
    );
  }
}

const DIFF = [leader.info(5), leader.diff(5n << 32n), leader.newLeader(5), leader.upToDate()];
const CONVERSATIONS = [
  Buffer.concat([leader.info(5), leader.snap(5n << 32n), snapshot(), leader.newLeader(5), leader.upToDate()]),
  Buffer.concat([...DIFF, leader.inform(0x5_0000_0004n), leader.ping(1n), leader.synced()]),
  Buffer.concat([leader.info(5), leader.trunc(1n)]),
];

const APACHE_TRANSACTIONS = (
  [
    [ApacheType.CREATE2, recordOf.create("/a", { data: "x", parentCversion: 3 })],
    [ApacheType.CREATE_TTL, recordOf.ttl("/a", 3, 5000n)],
    [ApacheType.SET_ACL, recordOf.setAcl("/a", [{ perms: 31, scheme: "digest", id: "a:b" }], 1)],
    [
      ApacheType.MULTI,
      recordOf.multi([
        [ApacheType.DELETE, recordOf.delete("/a")],
        [ApacheType.ERROR, recordOf.number(-2)],
      ]),
    ],
    [ApacheType.CLOSE_SESSION, recordOf.paths(["/a", "/b"])],
  ] as const
).map(([type, record]) => transaction({ zxid: 1n, type, record, digest: 7n }));

/** As it comes over HTTP: in pieces, each of which is used again once it was taken. */
function takeApart(input: Buffer, pieceBytes: number): void {
  const decoder = new ApacheSnapshotDecoder({ acl: () => {}, node: () => {}, rest: () => {} });
  for (let at = 0; at < input.length; at += pieceBytes) {
    const piece = Buffer.from(input.subarray(at, at + pieceBytes));
    decoder.add(piece);
    piece.fill(0);
  }
  decoder.end();
}

const reader = new JuteReader();
const requests = new RequestReader();
const request = newRequest();
const part = newRequest();

function readRequest(input: Buffer): void {
  allowing(WireError, () => {
    requests.open(input, 0, input.length, request);
    requests.body(request);
    let isMore = true;
    while (isMore) isMore = requests.nextPart(part);
  });
}

const FRAMES = Buffer.concat(REQUESTS.map((body) => Buffer.concat([plain().int(body.length).bytes(), body])));

function cut(input: Buffer): void {
  const framer = new Framer(64 * 1024);
  const sink = (): boolean => true;
  allowing(WireError, () => {
    // In pieces, the sizes of which come from the input too.
    for (let at = 0; at < input.length; ) {
      const end = Math.min(input.length, at + 1 + ((input[at] ?? 0) % 37));
      framer.push(input.subarray(at, end), sink);
      at = end;
    }
  });
}

const CONFIG = `tickTime=2000
dataDir=/var/lib/zookeeper
clientPort=2181
secureClientPort=2281
maxClientCnxns=60
initLimit=10
syncLimit=5
server.1=a.example:2888:3888:participant;0.0.0.0:2181
server.2=[::1]:2888:3888:observer
group.1=1:2
weight.1=3
4lw.commands.whitelist=*
authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider
ssl.keyStore.location=/etc/key.pem
metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider
`;
const JAAS = `Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required
  user_super="adminsecret"
  user_bob="bob\\"secret"; // words
};
/* more */ Client { x optional; };
`;

const ENVELOPES: readonly Buffer[] = (
  [
    { kind: "ping", epoch: 3, check: 7, committed: 0x3_0000_0005 as Zxid, lacksRoom: true },
    { kind: "ack", epoch: 3, durable: 0x3_0000_0005 as Zxid, check: 7 },
    { kind: "leader-info", epoch: 4, incarnation: 2, ensembleId: "0123456789abcdef" },
    { kind: "refuse", reason: "unable", text: "this server belongs to another ensemble" },
    {
      kind: "new-leader",
      epoch: 4,
      through: 0x3_0000_0009 as Zxid,
      endsAmnesia: true,
      ensembleId: "an ensemble",
      config: undefined,
      committedConfig: undefined,
    },
  ] as const
).map((message) => {
  const bytes = Buffer.alloc(envelopeBytesMax(message));
  return bytes.subarray(0, new EnvelopeWriter().write(bytes, 0, message));
});

const transactions = new TxnReader();
const txnHeader = newTxnHeader();
const txnOp = newTxnOp();

/** A record of the log: a create with a list of access and a write, in one transaction. */
const TRANSACTION = ((): Buffer => {
  const encoder = new TxnBatchEncoder();
  encoder.begin({
    ...newTxnHeader(),
    zxid: 0x1_0000_0001 as Zxid,
    sessionLow: 7,
    cxid: 3,
    timeMs: 1_000,
    op: OP.multi,
  });
  const slice = (text: string): TxnOp["path"] => ({ bytes: Buffer.from(text), start: 0, end: text.length });
  const acl = [{ perms: 31, scheme: "digest", id: "a:b" }];
  encoder.op({
    ...newTxnOp(),
    op: OP.create,
    path: slice("/a"),
    data: slice("value"),
    hasData: true,
    acl,
    node: 9,
    parent: 1,
  });
  encoder.op({
    ...newTxnOp(),
    op: OP.setData,
    path: slice("/a"),
    data: slice("more"),
    hasData: true,
    version: 1,
    node: 9,
  });
  encoder.end();
  const { bytes, end } = encoder.take();
  return Buffer.from(bytes.subarray(FRAME_HEADER_BYTES, end));
})();

let live: Promise<LiveServer> | undefined;
const liveServer = (): Promise<LiveServer> => {
  live ??= LiveServer.start();
  return live;
};

const HTTP_SEEDS = [
  "GET /commands/monitor HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
  "POST /commands/restore HTTP/1.1\r\nHost: a\r\nAuthorization: digest a:b\r\nContent-Length: 3\r\n\r\nabc",
  "GET /commands/watches?x=%2f&y HTTP/1.1\r\nHost: a\r\n\r\nGET /readyz HTTP/1.1\r\nHost: a\r\n\r\n",
];

export const TARGETS: readonly FuzzTarget[] = [
  {
    name: "client-port",
    seeds: [FRAMES, ...REQUESTS.map((body) => Buffer.concat([plain().int(body.length).bytes(), body]))],
    words: ["ruok", "mntr", "cons", "wchp", "isro"],
    run: async (input) => (await liveServer()).toClientPort(input, input.length % 4 > 0),
  },
  {
    name: "admin-port",
    seeds: HTTP_SEEDS.map((text) => Buffer.from(text)),
    words: [
      "\r\n",
      "%00",
      "../",
      "?",
      "Transfer-Encoding: chunked\r\n",
      "Content-Length: 9999999999\r\n",
      "Authorization: ",
    ],
    run: async (input) => (await liveServer()).toAdminPort(input),
  },
  { name: "framer", seeds: [FRAMES], run: cut },
  { name: "request", seeds: REQUESTS, run: readRequest },
  {
    name: "handshake",
    seeds: [
      plain().int(0).long(5n).int(30_000).long(0n).buffer(Buffer.alloc(16)).bool(true).bytes(),
      plain().int(0).int(4000).long(77n).buffer(Buffer.alloc(16)).bytes(),
    ],
    run: (input) => {
      allowing(WireError, () => void readConnectRequest(input, 0, input.length));
      allowing(WireError, () => void readConnectResponse(input, 0, input.length));
    },
  },
  {
    name: "acl",
    seeds: [bodies.aclBytes(ACL), bodies.aclBytes([[1, "ip", "10.0.0.0/8"], ...ACL])],
    run: (input) =>
      allowing(WireError, () => {
        reader.reset(input, 0, input.length);
        new AclReader().read(reader);
      }),
  },
  {
    name: "path",
    seeds: ["/", "/a/b", "/a//b", "/a/../b", "/\u0000", "/\u{1f600}"].map((text) => Buffer.from(text)),
    run: (input) => void pathFault(input, 0, input.length),
  },
  {
    name: "reply",
    seeds: [
      plain().int(1).int(3).string("/a").bytes(),
      bodies.multi([1, plain().string("/a").bytes()], [-1, plain().int(-2).bytes()]),
    ],
    run: (input) => {
      for (const read of [readPartResults, readWatcherEvent]) {
        allowing(WireError, () => {
          reader.reset(input, 0, input.length);
          read(reader);
        });
      }
    },
  },
  {
    name: "peer-frames",
    seeds: ENVELOPES,
    run: (input) => {
      allowing(WireError, () => void decodeEnvelope(input, 0, input.length));
      const frame = Buffer.alloc(8 + input.length);
      frame.writeUInt32BE(input.length, 0);
      frame.writeUInt32BE(crc32(input), 4);
      input.copy(frame, 8);
      allowing(WireError, () => new PeerFrameReader({ crc32, frameBytesMax: 64 * 1024 }).push(frame, () => true));
    },
  },
  {
    name: "transaction",
    seeds: [TRANSACTION],
    run: (input) =>
      allowing(WireError, () => {
        transactions.open(input, 0, input.length, txnHeader);
        let isMore = true;
        while (isMore) isMore = transactions.next(txnOp);
      }),
  },
  {
    name: "apache-snapshot",
    seeds: [APACHE_SNAPSHOT, APACHE_SNAPSHOT.subarray(0, 400)],
    run: (input) => {
      for (const pieceBytes of [input.length + 1, 7]) allowing(StoreError, () => takeApart(input, pieceBytes));
    },
  },
  { name: "apache-leader", seeds: CONVERSATIONS, words: ["BenWasHere", "server.100=a:1:2"], run: observe },
  {
    name: "apache-transaction",
    seeds: APACHE_TRANSACTIONS,
    run: (input) => allowing(RangeError, () => void apacheTransaction(input)),
  },
  {
    name: "zoo.cfg",
    seeds: [Buffer.from(CONFIG)],
    words: ["server.", "=", "\\", "\\u00", ":", ";", "|", "\n", "true", "2147483648", "-1", "observer", "group."],
    run: (input) => {
      const text = input.toString("utf8");
      allowing(ConfigError, () => void parseProperties(text));
      allowing(ConfigError, () => void parseServerConfig(parseConfigFile(text, () => text).options));
    },
  },
  {
    name: "jaas",
    seeds: [Buffer.from(JAAS)],
    words: ["{", "}", '"', ";", "//", "/*", "\\"],
    run: (input) => void parseJaas(String(input)),
  },
  {
    name: "jvm-flags",
    seeds: [Buffer.from('-Xmx512m -Dzookeeper.extendedTypesEnabled=true "-Dzookeeper.x=a b" -Djute.maxbuffer=4194304')],
    words: ["-D", '"', "'", "=", "zookeeper."],
    run: (input) => void jvmSettings({ SERVER_JVMFLAGS: String(input) }),
  },
];
