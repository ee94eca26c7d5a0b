import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { OpCode } from "@zooid/model";
import { seededRandom } from "@zooid/model/testing/seeded-random";
import { type Attack, again, codesText, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";

const REALM = "ZOOID.TEST";
const HOST = "localhost";
const SERVICE = ["zookeeper", HOST];
const AES256_CTS = 18;
const KEY = Buffer.alloc(32, 0x5a);
const CONNECTIONS_AT_A_TIME = 50;
/** The longest token that the server takes. */
const TOKEN_BYTES_MAX = 64 * 1024;

/** A server whose clients authenticate by Kerberos. It needs its own key alone, and no KDC. */
function kerberosSettings(folder: string): readonly string[] {
  const keyTab = join(folder, "server.keytab");
  const jaas = join(folder, "jaas.conf");
  writeFileSync(keyTab, keyTabBytes(), { mode: 0o600 });
  writeFileSync(
    jaas,
    `Server {
  com.sun.security.auth.module.Krb5LoginModule required
  useKeyTab=true storeKey=true useTicketCache=false keyTab="${keyTab}" principal="${SERVICE.join("/")}@${REALM}";
};
`,
  );
  return [
    `jaasLoginConfig=${jaas}`,
    "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
    "zooid.authFailureDelayMaxMs=0",
  ];
}

/** MIT's format 0x502: one key of one principal. */
function keyTabBytes(): Buffer {
  const text = (value: string): Buffer => Buffer.concat([uint(value.length, 2), Buffer.from(value)]);
  const entry = Buffer.concat([
    uint(SERVICE.length, 2),
    text(REALM),
    ...SERVICE.map(text),
    uint(1, 4), // the type of the name: a principal
    uint(0, 4), // the time at which it was written
    uint(1, 1), // the key's version
    uint(AES256_CTS, 2),
    uint(KEY.length, 2),
    KEY,
  ]);
  return Buffer.concat([Buffer.of(5, 2), uint(entry.length, 4), entry]);
}

function uint(value: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(value, 0, length);
  return bytes;
}

/** A value in DER. @param length said instead of the true one */
function der(tag: number, parts: readonly Buffer[], length?: number): Buffer {
  const content = Buffer.concat(parts);
  const said = length ?? content.length;
  const head = said < 0x80 ? Buffer.of(said) : Buffer.concat([Buffer.of(0x84), uint(said, 4)]);
  return Buffer.concat([Buffer.of(tag), head, content]);
}

const KERBEROS_OID = Buffer.from("06092a864886f712010202", "hex");
const SPNEGO_OID = Buffer.from("06062b0601050502", "hex");

const context = (number: number, ...parts: readonly Buffer[]): Buffer => der(0xa0 | number, parts);
const integer = (value: number): Buffer => der(0x02, [uint(value, 1)]);
const generalString = (value: string): Buffer => der(0x1b, [Buffer.from(value)]);

/** A request for authentication as a client sends it, whose ticket no key has encrypted. */
function apReq(ticketBytes: Buffer, service: readonly string[] = SERVICE): Buffer {
  const encrypted = (bytes: Buffer): Buffer =>
    der(0x30, [context(0, integer(AES256_CTS)), context(1, integer(1)), context(2, der(0x04, [bytes]))]);
  const name = der(0x30, [context(0, integer(1)), context(1, der(0x30, service.map(generalString)))]);
  const ticket = der(0x61, [
    der(0x30, [
      context(0, integer(5)),
      context(1, generalString(REALM)),
      context(2, name),
      context(3, encrypted(ticketBytes)),
    ]),
  ]);
  const request = der(0x6e, [
    der(0x30, [
      context(0, integer(5)),
      context(1, integer(14)),
      context(2, der(0x03, [Buffer.of(0, 0x20, 0, 0, 0)])),
      context(3, ticket),
      context(4, encrypted(ticketBytes.subarray(0, 64))),
    ]),
  ]);
  return der(0x60, [KERBEROS_OID, Buffer.of(1, 0), request]);
}

/** Tokens that no client of a realm makes. */
function hostileTokens(): readonly Buffer[] {
  const random = seededRandom(1);
  const noise = (length: number): Buffer => Buffer.from(range(length, () => Math.floor(random() * 256)));
  const whole = apReq(noise(400));
  return [
    whole,
    apReq(noise(60_000)),
    apReq(
      noise(400),
      range(5000, () => "zookeeper"),
    ),
    apReq(noise(400), ["x".repeat(60_000)]),
    apReq(Buffer.alloc(0)),
    noise(TOKEN_BYTES_MAX),
    der(0x60, [SPNEGO_OID, noise(1000)]),
    der(0x60, [KERBEROS_OID, Buffer.of(1, 0), whole], 0x7fff_ffff),
    // A value in a value in a value, to the end of the token.
    Buffer.concat(range(12_000, () => Buffer.of(0x30, 0x82, 0xff, 0xff))),
    ...range(40, () => whole.subarray(0, Math.floor(random() * whole.length))),
    ...range(200, () => {
      const bytes = Buffer.from(whole);
      for (let i = 0; i < 3; i++) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      return bytes;
    }),
  ];
}

/** GSSAPI, which MIT's library reads in the server's thread. */
export const KERBEROS_ATTACKS: readonly Attack[] = hasLibrary()
  ? [
      {
        name: "kerberos-tokens",
        sends:
          "sessions of 50 addresses, each with a GSSAPI token that is damaged, huge, deep, or encrypted with no key",
        settings: kerberosSettings,
        async prepare({ port }) {
          const tokens = hostileTokens();
          return async () => {
            const codes = new Map<number, number>();
            let next = 0;
            const count = await again(CONNECTIONS_AT_A_TIME, async (lane) => {
              const token = tokens[next++ % tokens.length] ?? Buffer.alloc(0);
              await using client = await Attacker.open({ port, localAddress: `127.4.0.${1 + lane}` });
              await client.ask(OpCode.SASL, (writer) => writer.range(token, 0, token.length));
              for (const [code, times] of client.codes) codes.set(code, (codes.get(code) ?? 0) + times);
            });
            return `${count} tokens: ${codesText(codes)}`;
          };
        },
      },
    ]
  : [];

/** The server calls MIT's library through koffi, which is an optional dependency. */
function hasLibrary(): boolean {
  try {
    createRequire(import.meta.resolve("@zooid/embedded-server"))("koffi").load("libgssapi_krb5.so.2");
    return true;
  } catch {
    return false;
  }
}
