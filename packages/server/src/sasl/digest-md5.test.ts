import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { DigestMd5Exchange } from "./digest-md5.ts";

const USERS = new Map([
  ["bob", "bobsecret"],
  ["chris", "secret"],
  ["jürgen", "pässe"],
  ["日本", "秘密"],
]);
const NONCE = "OA6MG9tEQGm2hh";
const NOTHING = new Uint8Array();

interface Saying {
  readonly user?: Buffer;
  readonly password?: Buffer;
  readonly realm?: string;
  readonly nonce?: string;
  readonly nc?: string;
  readonly qop?: string;
  readonly uri?: string;
  readonly charset?: string;
  readonly more?: string;
}

const md5 = (bytes: Buffer): Buffer => createHash("md5").update(bytes).digest();
const hex = (bytes: Buffer | string): string => md5(Buffer.from(bytes)).toString("hex");

/** A client's response, computed apart from the code. */
function responseTo({ user = Buffer.from("bob"), password = Buffer.from("bobsecret"), ...said }: Saying = {}): Buffer {
  const { realm = "zk-sasl-md5", nonce = NONCE, nc = "00000001", qop = "auth", more = "" } = said;
  const { uri = "zookeeper/zk-sasl-md5", charset = "charset=utf-8," } = said;
  const colon = Buffer.from(":");
  const secret = md5(Buffer.concat([user, colon, Buffer.from(realm), colon, password]));
  const a1 = hex(Buffer.concat([secret, Buffer.from(`:${nonce}:abc`)]));
  const proof = hex(`${a1}:${nonce}:${nc}:abc:${qop}:${hex(`AUTHENTICATE:${uri}`)}`);
  const name = charset === "" ? user : Buffer.from(user.toString("latin1"));
  return Buffer.concat([
    Buffer.from(`${charset}username="`),
    name,
    Buffer.from(
      `",realm="${realm}",nonce="${nonce}",nc=${nc},cnonce="abc",digest-uri="${uri}",maxbuf=65536,response=${proof},qop=${qop}${more}`,
    ),
  ]);
}

/** The result of a response to the challenge. */
function outcome(response: Uint8Array): string {
  const exchange = new DigestMd5Exchange(USERS, NONCE);
  exchange.step(NOTHING);
  const step = exchange.step(response);
  return step.kind === "done" ? `${step.user} ${Buffer.from(step.token ?? []).toString()}` : step.kind;
}

test("the challenge is the one that ZooKeeper sends", () => {
  const step = new DigestMd5Exchange(USERS, NONCE).step(NOTHING);
  expect(step).toEqual({
    kind: "challenge",
    token: Buffer.from(`realm="zk-sasl-md5",nonce="${NONCE}",charset=utf-8,algorithm=md5-sess`),
  });
});

test("no two connections get the same challenge", () => {
  const challenge = (): unknown => new DigestMd5Exchange(USERS).step(NOTHING);
  expect(challenge()).not.toEqual(challenge());
});

test("a user with the right password gets the server's proof", () => {
  // The proof that Apache ZooKeeper 3.9.5 sent for this nonce.
  const nonce = "+Nzy3yE7TLtZI/U+2Xo+yMYbcxw8OlBdil1AVdXz";
  const exchange = new DigestMd5Exchange(USERS, nonce);
  exchange.step(NOTHING);
  expect(exchange.step(responseTo({ nonce }))).toEqual({
    kind: "done",
    user: "bob",
    token: Buffer.from("rspauth=763ffc367a98d1695ea995a00968e001"),
  });
});

describe("a response is accepted", () => {
  test.each<[string, Saying]>([
    ["with the server's name in capitals", { uri: "zookeeper/ZK-SASL-MD5" }],
    ["without a character set", { charset: "" }],
    ["with an unknown directive", { more: ",foo=bar" }],
  ])("%s", (_, saying) => {
    expect(outcome(responseTo(saying))).toMatch(/^bob rspauth=[0-9a-f]{32}$/);
  });

  test("of a user whose name and password fit into ISO 8859-1, hashed in it", () => {
    const [user, password] = [Buffer.from("jürgen", "latin1"), Buffer.from("pässe", "latin1")];
    expect(outcome(responseTo({ user, password }))).toMatch(/^jürgen /);
  });
});

describe("a response is refused", () => {
  test.each<[string, Uint8Array]>([
    ["with another password", responseTo({ password: Buffer.from("bobsecre") })],
    ["of an unknown user", responseTo({ user: Buffer.from("eve"), password: Buffer.from("") })],
    ["for another realm", responseTo({ realm: "other" })],
    ["to another challenge", responseTo({ nonce: "another" })],
    ["that proves itself by our challenge and names another", Buffer.from(`${responseTo()}`.replace(NONCE, "another"))],
    ["that counts the challenge's second use", responseTo({ nc: "00000002" })],
    ["that wants more than authentication", responseTo({ qop: "auth-int" })],
    ["for another service", responseTo({ uri: "http/zk-sasl-md5" })],
    ["for another server", responseTo({ uri: "zookeeper/localhost" })],
    ["for a replicated service", responseTo({ uri: "zookeeper/zk-sasl-md5/x" })],
    ["that names a directive twice", responseTo({ more: ",qop=auth" })],
    ["in another character set", responseTo({ charset: "charset=latin1," })],
    ["that is longer than may be", responseTo({ more: `,x="${"x".repeat(4096)}"` })],
    ["that is empty", NOTHING],
    ["that is no list of directives", Buffer.from("\0\xff=,==,")],
    ["with a quotation that does not end", Buffer.from(`username="${"\\".repeat(2001)}`)],
  ])("%s", (_, response) => {
    expect(outcome(response)).toBe("failed");
  });

  test("where an eavesdropper replays it on another connection", () => {
    const exchange = new DigestMd5Exchange(USERS);
    exchange.step(NOTHING);
    expect(exchange.step(responseTo()).kind).toBe("failed");
  });
});

test.each([
  ["after it succeeded", responseTo()],
  ["after it failed", responseTo({ nc: "00000002" })],
])("there is one attempt: every token fails %s", (_, response) => {
  const exchange = new DigestMd5Exchange(USERS, NONCE);
  exchange.step(NOTHING);
  exchange.step(response);
  for (let i = 0; i < 20; i++) expect(exchange.step(i % 2 === 0 ? NOTHING : responseTo()).kind).toBe("failed");
});

test("any input of a client fails without an exception", () => {
  const said = responseTo().toString("latin1");
  for (let at = 0; at < said.length; at++) {
    for (const other of ['"', ",", "=", "\\", "\0", "\xff", ""]) {
      const damaged = Buffer.from(said.slice(0, at) + other + said.slice(at + 1), "latin1");
      // Blanks between directives, and ignored directives, may be anything.
      expect(outcome(damaged)).toMatch(/^failed$|^bob rspauth=/);
    }
  }
});
