import { digestMd5 } from "@zooid/client/internal/auth/digest-md5";
import { parseConnectString } from "@zooid/client/internal/servers/connect-string";
import { parseQuotaText } from "@zooid/data-tree/internal/quotas/quota-text";
import { redacted } from "@zooid/embedded-server/internal/admin/redacted";
import { DigestMd5Exchange } from "@zooid/embedded-server/internal/sasl/digest-md5";
import { PrincipalNames } from "@zooid/embedded-server/internal/sasl/principal-names";
import { parsePrincipalRules } from "@zooid/embedded-server/internal/sasl/principal-rules";
import { opensslCipher } from "@zooid/embedded-server/internal/tls/cipher-suites";
import { parseJaas } from "@zooid/java-files/internal/jaas-file";
import { pemBlocks } from "@zooid/java-files/internal/pem-blocks";
import { changedMembers, isIpRange, javaAddress, membersOf, parseServerLine, parseZxid, ZXID_NONE } from "@zooid/model";
import { parseConfiguration } from "@zooid/model/internal/membership/configuration";
import { parseMembers } from "@zooid/model/internal/membership/members-text";
import { AuthSchemes } from "@zooid/replica/internal/auth/auth-schemes";
import { isDistinguishedName } from "@zooid/replica/internal/auth/distinguished-name";
import { parseCons } from "@zooid/web-console/internal/facts/cons-text";
import { parseDump } from "@zooid/web-console/internal/facts/dump-text";
import { atOnce } from "@zooid/web-console/internal/facts/in-slices";
import { parseSrvr } from "@zooid/web-console/internal/facts/srvr-text";
import { parseStorage } from "@zooid/web-console/internal/facts/storage-text";
import { watchesOf } from "@zooid/web-console/internal/facts/watch-text";
import { recognise } from "@zooid/web-console/internal/recipes/recognise";
import { digestMd5Directives } from "@zooid/wire";
import { splitWords } from "zooid-cli/internal/shell/shell-words";
import { parseAcl } from "zooid-cli/internal/texts/acl-text";
import { parseClusterConfig } from "zooid-cli/internal/texts/cluster-config";
import { globPattern } from "zooid-cli/internal/texts/name-glob";
import { parseQuota } from "zooid-cli/internal/texts/quota-record";
import { parseServerReport } from "zooid-cli/internal/texts/server-report";
import { shownText } from "zooid-cli/internal/texts/shown-text";
import { parseConfigFile } from "zooid-server/internal/configuration/config-file";
import { parseProperties } from "zooid-server/internal/configuration/properties";
import { printable } from "zooid-server/internal/logs/logger";

/** A parser of texts that a stranger, a client, a server or a file brings. */
export interface TextParser {
  readonly name: string;
  /** Takes the text, or throws an error that says what is wrong with it. */
  readonly parse: (text: string) => unknown;
  /** Pieces of its grammar, of which random texts are made. */
  readonly words: readonly string[];
  /** The pieces that its grammar lets repeat: an opening, the repeated piece, an end. */
  readonly repeated: readonly (readonly [string, string, string])[];
}

const SCHEMES = new AuthSchemes(
  { superDigest: undefined, digestEnabled: true, skipAcl: false, providers: new Set(["sasl", "x509"]) },
  { digest: (bytes) => bytes, sha256: (bytes) => bytes },
  { aclCountMax: 1000, identityBytesMax: 1024 },
);
const NO_MEMBERS = membersOf([], ZXID_NONE);
const LINE = "server.1=h:1:2:participant;3";
const MEMBER_WORDS = [
  "server.",
  "group.",
  "weight.",
  "version=",
  "#disk.1=0a",
  "#",
  "1",
  "254",
  "=",
  ":",
  ";",
  "h",
  "[::1]",
  "\n",
  "\r",
  " ",
  "|",
  "observer",
];
const MEMBER_LINES = [
  ["server.1=x", " ", "\rx"],
  ["server.1=x", " \r", "x"],
  ["server.1=", "\r ", "x"],
  ["", " ", "server.1=h:1:2\rx"],
  ["", "x", "=1"],
  ["", "server.1=h:1:2\n", ""],
  ["", "#disk.1=0a\n", ""],
  ["server.1=h:1:2", "|h:1:2", ""],
  ["group.1=1", ":1", ""],
  ["server.1=[", ":", "]:1:2"],
  ["version=", "0", ""],
] as const;
const DIRECTIVE_WORDS = ["realm", "nonce", "username", "=", '"', "\\", ",", " ", "auth", "charset=utf-8", "qop"];
const DIRECTIVES = [
  ["", "x", ""],
  ["a=", " ", "x"],
  ["a", " ", "x"],
  ['a="', "\\", ""],
  ["", "a=b,", ""],
  ["", ",", ""],
  ['a="', "x", ""],
  ["a=x", " ", "y"],
] as const;
const ID_REPEATED = [
  ["", ":", ""],
  ["", ":", "x"],
  ["a", "/", "@R"],
  ["a@", "@", ""],
  ["CN=", " ", '"'],
  ["CN=", "\\ ", ""],
  ["", "CN=a,", ""],
  ['CN="', "\\", ""],
  ["1.2", ".3", "=x"],
] as const;

export const TEXT_PARSERS: readonly TextParser[] = [
  { name: "members", parse: parseMembers, words: MEMBER_WORDS, repeated: MEMBER_LINES },
  {
    name: "/zookeeper/config",
    parse: parseConfiguration,
    words: [LINE, "\n", ...MEMBER_WORDS],
    repeated: MEMBER_LINES,
  },
  {
    name: "reconfig: members",
    parse: (members) => changedMembers(NO_MEMBERS, { kind: "bulk", members }, ZXID_NONE),
    words: [LINE, ",", ...MEMBER_WORDS],
    repeated: [...MEMBER_LINES, ["", ",", ""]],
  },
  {
    name: "reconfig: joining and leaving servers",
    parse: (text) => changedMembers(NO_MEMBERS, { kind: "incremental", joining: text, leaving: text }, ZXID_NONE),
    words: [LINE, ",", "1=h:1:2;3", ...MEMBER_WORDS],
    repeated: [
      ["", "=", ""],
      ["", "1,", ""],
      ["", " ", "x"],
      ["server.", ".", "1=h:1:2;3"],
      ["1=x", " ", "\rx"],
    ],
  },
  {
    name: "server line",
    parse: parseServerLine,
    words: MEMBER_WORDS,
    repeated: [
      ["[", ":", "]:1:2"],
      ["h", ":1", ""],
      ["h:1:2", "|h", ""],
      ["h:1:2", ";1", ""],
    ],
  },
  { name: "zxid", parse: parseZxid, words: ["0x", "0", "f", "x"], repeated: [["0x", "0", "x"]] },
  {
    name: "IP range",
    parse: isIpRange,
    words: ["1", "255", ".", ":", "::", "/", "8", "%", "f"],
    repeated: [
      ["", ":", ""],
      ["", "1.", ""],
      ["1.1.1.1/", "0", "8"],
    ],
  },
  {
    name: "peer address",
    parse: javaAddress,
    words: ["1", ".", ":", "%", "eth0", "\n"],
    repeated: [
      ["fe80::1", "%", "\n"],
      ["", "%", ""],
      ["", "1:", ""],
    ],
  },
  { name: "directives of DIGEST-MD5", parse: digestMd5Directives, words: DIRECTIVE_WORDS, repeated: DIRECTIVES },
  {
    name: "a challenge of DIGEST-MD5",
    parse: (text) => digestMd5({ username: "u", password: "p" }).begin().next(Buffer.from(text)),
    words: DIRECTIVE_WORDS,
    repeated: DIRECTIVES,
  },
  {
    name: "a response of DIGEST-MD5",
    parse: (text) => {
      const exchange = new DigestMd5Exchange(new Map());
      exchange.step(Buffer.alloc(0));
      return exchange.step(Buffer.from(text));
    },
    words: DIRECTIVE_WORDS,
    repeated: DIRECTIVES,
  },
  ...["digest", "ip", "sasl", "x509"].map((scheme) => ({
    name: `access list: ${scheme}`,
    parse: (id: string) => SCHEMES.fixAcl([{ perms: 31, scheme, id }], []),
    words: ["a", ":", "@", "/", "=", "CN", ",", "1", ".", "\\", '"', "#0c", " "],
    repeated: ID_REPEATED,
  })),
  {
    name: "distinguished name",
    parse: isDistinguishedName,
    words: ["CN", "=", ",", "+", ";", '"', "\\", "#0c", " ", "a", "1.2"],
    repeated: ID_REPEATED,
  },
  {
    name: "principal",
    parse: (text) => principals().userOf(text),
    words: ["a", "/", "@", "R"],
    repeated: [
      ["", "a", "@R"],
      ["a/", "/", "@R"],
      ["a", "@", ""],
    ],
  },
  {
    name: "rules for principals",
    parse: (text) => parsePrincipalRules(text, "R"),
    words: ["RULE:", "[1:$1]", "(", ")", "s/", "/", "g", "DEFAULT", " ", "$1", "\\"],
    repeated: [
      ["", "DEFAULT ", ""],
      ["RULE:[1:", "$1", "]"],
      ["RULE:[1:$1](", "a", ""],
      ["", " ", "x"],
    ],
  },
  {
    name: "quota",
    parse: parseQuotaText,
    words: ["count=", "bytes=", "1", "-1", ",", ";", "=", "byteHardLimit"],
    repeated: [
      ["count=1", ",", ""],
      ["", "count=1,", ""],
      ["count=", "1", ""],
    ],
  },
  {
    name: "quota, for zooid-cli",
    parse: (text) => parseQuota(text, "/a"),
    words: ["count=", "bytes=", "1", "-1", ",", ";", "="],
    repeated: [
      ["count=1", ",", ""],
      ["", "a=1;", ""],
    ],
  },
  {
    name: "connect string",
    parse: (text) => parseConnectString(text),
    words: ["h", ":", "2181", ",", "/", "[::1]", "dns+srv://", " ", "."],
    repeated: [
      ["h/", "/", ""],
      ["", "h,", ""],
      ["h", ":1", ""],
      ["", " ", "h"],
      ["h.", "a.", "!"],
    ],
  },
  {
    name: "JAAS file",
    parse: parseJaas,
    words: ["Client", "{", "}", ";", "required", "a=", '"x"', "//", "/*", "*/", "\n", " ", "'"],
    repeated: [
      ["", "/*", ""],
      ["", "//", ""],
      ["", "A { x required; };\n", ""],
      ['A { x required a="', "\\", ""],
      ["", " ", "x"],
    ],
  },
  {
    name: "PEM",
    parse: (text) => pemBlocks(text, "CERTIFICATE"),
    words: ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----", "-", "\n", "AA"],
    repeated: [
      ["", "-----BEGIN CERTIFICATE-----", ""],
      ["", "-----BEGIN CERTIFICATE----- -----END CERTIFICATE-----", ""],
      ["", "-", ""],
    ],
  },
  {
    name: "zoo.cfg",
    parse: (text) => parseConfigFile(text, () => ""),
    words: ["server.1", "=", ":", " ", "\n", "\\", "tickTime", "2000", "#", "dataDir"],
    repeated: [
      ["a", " ", "=b"],
      ["", "\\", ""],
      ["", "a=b\n", ""],
      ["a=b", "\\\n", ""],
      ["", "#\n", ""],
    ],
  },
  {
    name: "properties",
    parse: parseProperties,
    words: ["a", "=", ":", " ", "\n", "\\", "\\u0041", "#", "!"],
    repeated: [
      ["a", " ", "=b"],
      ["", "\\", ""],
      ["", "a=b\n", ""],
      ["a=b", "\\\n", ""],
    ],
  },
  {
    name: "a configuration file to be shown",
    parse: redacted,
    words: ["password", "=", ":", " ", "\n", "\r", "\\", "#", "x"],
    repeated: [
      ["a", " ", ""],
      ["", " ", "=b"],
      ["password=", " ", "\r"],
      ["password=", "\\", ""],
      ["", "#", ""],
      ["", "a=b\n", ""],
    ],
  },
  {
    name: "cipher suite",
    parse: opensslCipher,
    words: ["TLS_", "_WITH_", "AES", "_", "ECDHE"],
    repeated: [
      ["TLS_", "_WITH_", ""],
      ["TLS_", "A_", ""],
    ],
  },
  {
    name: "log line",
    parse: printable,
    words: ["\n", "\x1b", "\u202e", "a", "é"],
    repeated: [
      ["", "\n", ""],
      ["", "\u202e", ""],
    ],
  },
  {
    name: "access list, for zooid-cli",
    parse: parseAcl,
    words: ["world", ":", "anyone", ",", "cdrwa", "digest"],
    repeated: [
      ["", ",", ""],
      ["", ",", "x"],
      ["", "world:anyone:r,", ""],
      ["a", ":", ""],
    ],
  },
  { name: "/zookeeper/config, for zooid-cli", parse: parseClusterConfig, words: MEMBER_WORDS, repeated: MEMBER_LINES },
  {
    name: "answer to srvr, for zooid-cli",
    parse: parseServerReport,
    words: ["Mode: ", "leader", "\n", "Zxid: ", "0x1", "Latency min/avg/max: ", "/"],
    repeated: [
      ["", "Mode: ", ""],
      ["Mode: x\n", "Zxid: \n", ""],
      ["Latency min/avg/max: ", "/", "\nMode: x"],
    ],
  },
  {
    name: "a name against a pattern",
    parse: (text) => globPattern("*a*b?[cd]").test(text),
    words: ["a", "b", "c", "*"],
    repeated: [
      ["", "a", ""],
      ["", "ab", ""],
    ],
  },
  {
    name: "a text in a terminal",
    parse: shownText,
    words: ["\n", "\x1b[", "\u202e", "a"],
    repeated: [
      ["", "\x1b", ""],
      ["", "\u202e", ""],
    ],
  },
  {
    name: "words of a command",
    parse: splitWords,
    words: ["a", " ", '"', "'", "\\"],
    repeated: [
      ["", " ", ""],
      ["", '"', ""],
      ["", "\\", ""],
      ["", "a ", ""],
    ],
  },
  {
    name: "answer to cons, for the console",
    parse: (text) => [...parseCons(text)],
    words: ["/", "127.0.0.1", ":1", "[1](", "queued=0", ",", "sid=0x1", ")", "\n", " "],
    repeated: [
      ["/a", "[1](", ")"],
      ["/", "a", ""],
      ["/a[1](", "a=1,", ")"],
      ["", "/a[1]()\n", ""],
      ["", " ", "x"],
    ],
  },
  {
    name: "answer to dump, for the console",
    parse: (text) => atOnce(parseDump(text)),
    words: ["0x1", ":", "\n", "\t", "/a", "Sessions with Ephemerals (1):"],
    repeated: [
      ["", "0x1:\n", ""],
      ["0x1:\n", "\t/a\n", ""],
      ["", "\t", ""],
    ],
  },
  {
    name: "answer to srvr, for the console",
    parse: parseSrvr,
    words: ["Mode: ", "leader", "\n", "Zxid: ", "0x1"],
    repeated: [
      ["", "Mode: ", ""],
      ["", "Mode: x\n", ""],
    ],
  },
  {
    name: "answer to mntr, for the console",
    parse: parseStorage,
    words: ["zk_", "zooid_disk_low", "\t", " ", "1", "\n"],
    repeated: [
      ["zk_a", " ", "\x00x"],
      ["", "zk_a 1\n", ""],
      ["", "zk_", ""],
      ["zk_a", "\t", ""],
    ],
  },
  {
    name: "answer to wchc, for the console",
    parse: (text) => atOnce(watchesOf([text], "0x1", { from: 0, countMax: 1000 })),
    words: ["0x1", "\n", "\t", "/a"],
    repeated: [
      ["0x1\n", "\t/a\n", ""],
      ["", "0x1\n", ""],
      ["", "\t", ""],
    ],
  },
  {
    name: "names of a recipe, for the console",
    parse: (name) => recognise([{ name, isEphemeral: true, hasChildren: false, text: name }]),
    words: ["_c_", "0", "a", "-", "lock-", "0000000001", "__lock__", "queue-|", "x-"],
    repeated: [
      ["_c_", "0", "-lock-0000000001"],
      ["x-", "0", ""],
      ["x-0-", "0", "x"],
      ["queue-|", "1", "x"],
    ],
  },
];

function principals(): PrincipalNames {
  const rules = parsePrincipalRules("RULE:[1:$1](a*b)s/a*$// DEFAULT", "R");
  if (typeof rules === "string") throw new Error(rules);
  return new PrincipalNames({ rules, removesHost: false, removesRealm: false });
}
