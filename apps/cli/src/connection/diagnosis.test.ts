import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "@zooid/embedded-server";
import { pemOfHost } from "@zooid/java-files/testing/stores";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { expect, test } from "vitest";
import { Session } from "../testing/session.ts";
import { diagnose } from "./diagnosis.ts";

const { signal } = new AbortController();
const at = (port: number) => ({ host: "127.0.0.1", port });

test("a server without a quorum is named as such by a command that fails", async () => {
  const [quorumPort = 0, electionPort = 0, ...closed] = await freePorts(6);
  const servers = [
    { sid: 1, host: "127.0.0.1", quorumPort, electionPort },
    { sid: 2, host: "127.0.0.1", quorumPort: closed[0] ?? 0, electionPort: closed[1] ?? 0 },
    { sid: 3, host: "127.0.0.1", quorumPort: closed[2] ?? 0, electionPort: closed[3] ?? 0 },
  ];
  await using server = await startServer({ port: 0, ensemble: { sid: 1, servers } });
  await using session = await Session.open(server.connectString);
  const { stderr } = await session.run("ls", "/");
  expect(stderr).toContain(
    `KeeperErrorCode = ConnectionLoss for / (${server.connectString} runs and has no quorum; its log`,
  );
});

test("TLS to a plain port, and a plain connection to a TLS port, are distinguished", async () => {
  const folder = mkdtempSync(join(tmpdir(), "zooid-diagnosis-"));
  try {
    const { key, cert, authority } = pemOfHost();
    const [keyFile, authorityFile] = [join(folder, "server.pem"), join(folder, "authority.pem")];
    writeFileSync(keyFile, key + cert, { mode: 0o600 });
    writeFileSync(authorityFile, authority);
    await using server = await startServer({
      port: 0,
      securePort: 0,
      tls: { keyStore: { location: keyFile }, trustStore: { location: authorityFile }, clientAuth: "need" },
    });
    expect(await diagnose(at(server.port), true, signal)).toMatch(/does not speak TLS on this port/);
    expect(await diagnose(at(server.securePort ?? 0), false, signal)).toMatch(/speaks TLS on this port/);
    expect(await diagnose(at(server.port), false, signal)).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("another service is named with its greeting, and nothing is guessed where no server listens", async () => {
  const other = createServer((socket) => socket.end("220 mail.example.com ESMTP\r\n").resume()).listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  const reason = `127.0.0.1:${port} is the port of another service: it answered "220 mail.example.com ESMTP"`;
  expect(await diagnose(at(port), true, signal)).toBe(reason);
  expect(await diagnose(at(port), false, signal)).toBe(reason);
  other.close();
  await once(other, "close");
  expect(await diagnose(at(port), false, signal)).toBeUndefined();
});
