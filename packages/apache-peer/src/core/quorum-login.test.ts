import { createHash } from "node:crypto";
import { digestMd5Bytes, digestMd5Response } from "@zooid/wire";
import { field, int, long } from "@zooid/wire/apache";
import { expect, test } from "vitest";
import { ApachePeerError } from "./peer-error.ts";
import { QuorumLogin } from "./quorum-login.ts";

const MAGIC = long(0x5f24_3501_3501_edccn);
const USER = { username: "learner", password: "secret" };
const REALM = "zk-quorum-sasl-md5";
const NONCE = "OA6MG9tEQGm2hh";
const CNONCE = "OA6MHXh6VqTrRk";
const CHALLENGE = `realm="${REALM}",nonce="${NONCE}",qop="auth",charset=utf-8,algorithm=md5-sess`;

function md5(bytes: Uint8Array): Buffer {
  return createHash("md5").update(bytes).digest();
}

function step(status: number, token: string): Buffer {
  return Buffer.concat([MAGIC, int(status), field(Buffer.from(token))]);
}

function newLogin(): QuorumLogin {
  return new QuorumLogin({ user: USER, cnonce: CNONCE, md5 });
}

function proof(side: "client" | "server"): string {
  const fields = {
    user: digestMd5Bytes(USER.username),
    realm: digestMd5Bytes(REALM),
    password: digestMd5Bytes(USER.password),
    nonce: NONCE,
    nonceCount: "00000001",
    cnonce: CNONCE,
    uri: `zookeeper-quorum/${REALM}`,
  };
  return digestMd5Response(fields, side, md5);
}

function reasonOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof ApachePeerError && error.detail.code === "LOGIN_FAILED") return error.detail.reason;
    throw error;
  }
  return "nothing";
}

test("a login begins without a token, answers the challenge, and takes the server's proof", () => {
  expect(QuorumLogin.first.toString("hex")).toBe("5f2435013501edcc0000000000000000");
  const login = newLogin();
  const answer = login.take(step(0, CHALLENGE))?.subarray(16).toString();
  expect(answer).toBe(
    `charset=utf-8,username="learner",realm="${REALM}",nonce="${NONCE}",nc=00000001,cnonce="${CNONCE}",` +
      `digest-uri="zookeeper-quorum/${REALM}",response=${proof("client")},qop=auth`,
  );
  expect(login.isDone).toBe(false);
  expect(login.take(step(1, `rspauth=${proof("server")}`))).toBe(undefined);
  expect(login.isDone).toBe(true);
});

test("each piece may be a single byte, and what follows the login is kept", () => {
  const login = newLogin();
  const steps = Buffer.concat([step(0, CHALLENGE), step(1, `rspauth=${proof("server")}`), Buffer.of(1, 2)]);
  const answers = [...steps].flatMap((byte) => {
    if (login.isDone) return [];
    return login.take(Buffer.of(byte)) ?? [];
  });
  expect([answers.length, login.isDone]).toEqual([1, true]);
});

test.each([
  ["a server that does not know the user", [step(0, CHALLENGE), step(-1, "")], "does not accept user and password"],
  ["a server that does not know the password", [step(0, CHALLENGE), step(1, "rspauth=00")], "did not prove"],
  ["a success without a challenge", [step(1, "")], "status 1"],
  ["a challenge without a nonce", [step(0, 'realm="a"')], "no nonce"],
  ["a challenge that is none", [step(0, "\0\0")], "no list of directives"],
  ["other bytes", [Buffer.alloc(16, 1)], "no step of a login"],
  ["a token of 2^31 - 1 bytes", [Buffer.concat([MAGIC, int(0), int(2 ** 31 - 1)])], "2147483647"],
  ["a token of -2 bytes", [Buffer.concat([MAGIC, int(0), int(-2)])], "-2"],
])("%s is refused in one sentence", (_, pieces, reason) => {
  const login = newLogin();
  expect(reasonOf(() => pieces.map((piece) => login.take(piece)))).toContain(reason);
});
