import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "@zooid/embedded-server";
import { pemOfHost } from "@zooid/java-files/testing/stores";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { expect, test } from "vitest";
import { checkStatus } from "./status.ts";

test("a server that serves is found with its mode, as zkServer.sh prints it", async () => {
  await using server = await startServer({ port: 0 });
  expect(await checkStatus({ port: server.port, address: "*" })).toEqual({
    isServing: true,
    lines: [`Client port found: ${server.port}. Client address: 127.0.0.1. Client SSL: false.`, "Mode: standalone"],
  });
});

test("a port for TLS alone is asked with the server's own certificate", async () => {
  const folder = mkdtempSync(join(tmpdir(), "zooid-status-"));
  try {
    const { key, cert, authority } = pemOfHost();
    const [keyFile, authorityFile] = [join(folder, "server.pem"), join(folder, "authority.pem")];
    writeFileSync(keyFile, key + cert, { mode: 0o600 });
    writeFileSync(authorityFile, authority);
    const tls = {
      keyStore: { location: keyFile },
      trustStore: { location: authorityFile },
      clientAuth: "need" as const,
    };
    await using server = await startServer({ plainPort: false, securePort: 0, tls });
    const options = { plainPort: false, securePort: server.securePort ?? 0, tls };
    expect(await checkStatus(options)).toMatchObject({
      isServing: true,
      lines: [expect.stringContaining("Client SSL: true."), "Mode: standalone"],
    });
    // Without a certificate the port does not answer.
    expect(await checkStatus({ ...options, tls: {} })).toMatchObject({ isServing: false });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a server without a quorum is not serving, and the admin port has the reason", async () => {
  const [quorumPort = 0, electionPort = 0, ...closed] = await freePorts(6);
  const servers = [
    { sid: 1, host: "127.0.0.1", quorumPort, electionPort },
    { sid: 2, host: "127.0.0.1", quorumPort: closed[0] ?? 0, electionPort: closed[1] ?? 0 },
    { sid: 3, host: "127.0.0.1", quorumPort: closed[2] ?? 0, electionPort: closed[3] ?? 0 },
  ];
  await using server = await startServer({ port: 0, admin: { port: 0 }, ensemble: { sid: 1, servers } });
  const { isServing, lines } = await checkStatus({ port: server.port, admin: { port: server.adminPort ?? 0 } });
  expect(isServing).toBe(false);
  expect(lines.join("\n")).not.toMatch(/^Mode:/m);
  expect(lines).toContainEqual(expect.stringMatching(/^\[-\]serving failed: /));
});

test("where no server listens, the port and the system's reason are named", async () => {
  const [port = 0, adminPort = 0] = await freePorts(2);
  const { isServing, lines } = await checkStatus({ port, admin: { port: adminPort } });
  expect(isServing).toBe(false);
  expect(lines).toHaveLength(2);
  for (const part of ["Error contacting service. It is probably not running.", "ECONNREFUSED", `${port}`])
    expect(lines[1]).toContain(part);
});

test("a port that the system chooses cannot be asked", async () => {
  expect(await checkStatus({ port: 0 })).toMatchObject({
    isServing: false,
    lines: [expect.stringContaining("clientPort=0")],
  });
});
