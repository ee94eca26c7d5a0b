import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectPlain, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectionOptions, connect } from "node:tls";
import { expect, test } from "vitest";
import { AUTHORITY, CLIENT_EXPIRED, HOST, STRANGER } from "../testing/certificates.ts";
import { startTestServer } from "../testing/server.ts";

/** OpenSSL's form of an error: a thread, a number, a function, a source file. */
const RAW = /error:[0-9A-F]{8}|routines:|\.c:\d+/;

/** The line that the server logs when a client has connected in this way. */
async function lineFor(open: (port: number) => Socket): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "zooid-handshake-"));
  try {
    writeFileSync(join(folder, "host.pem"), HOST.key + HOST.cert, { mode: 0o600 });
    writeFileSync(join(folder, "authority.pem"), AUTHORITY);
    const tls = {
      keyStore: { location: join(folder, "host.pem") },
      trustStore: { location: join(folder, "authority.pem") },
      handshakeTimeoutMs: 300,
    };
    await using zk = await startTestServer({ address: "127.0.0.1", securePort: 0, tls });
    const socket = open(zk.securePort ?? 0);
    socket.on("error", () => {
      // The server refuses it.
    });
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
    while (zk.lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
    return zk.lines.join("\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tls(options: ConnectionOptions): (port: number) => Socket {
  return (port) => connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options });
}

function plain(bytes: string): (port: number) => Socket {
  return (port) => {
    const socket = connectPlain(port, "127.0.0.1", () => socket.write(bytes, "latin1"));
    return socket;
  };
}

test.each<[string, (port: number) => Socket, string]>([
  ["without a certificate", tls({}), "ssl.clientAuth=need"],
  [
    "with a certificate of another authority",
    tls({ key: STRANGER.key, cert: STRANGER.cert }),
    "ssl.trustStore.location",
  ],
  ["with an expired certificate", tls({ key: CLIENT_EXPIRED.key, cert: CLIENT_EXPIRED.cert }), "CERT_HAS_EXPIRED"],
  [
    "with TLS 1.1",
    tls({ minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT:@SECLEVEL=0" }),
    "ssl.enabledProtocols",
  ],
  [
    "with other cipher suites",
    tls({ maxVersion: "TLSv1.2", ciphers: "DHE-RSA-AES128-GCM-SHA256" }),
    "ssl.ciphersuites",
  ],
  ["with HTTP", plain("GET / HTTP/1.1\r\n\r\n"), "admin.serverPort"],
  ["without TLS", plain(`\0\0\0\x2d${"\0".repeat(45)}`), "zookeeper.client.secure=true"],
  ["without a word", plain("r"), "300 ms"],
])("a client %s is refused with a sentence that names the remedy", async (_, open, remedy) => {
  const line = await lineFor(open);
  expect(line).toContain(remedy);
  expect(line).not.toMatch(RAW);
});
