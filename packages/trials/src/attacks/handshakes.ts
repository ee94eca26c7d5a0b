import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect as connectTcp, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "node:tls";
import { AUTHORITY, HOST, STRANGER } from "@zooid/embedded-server/testing/certificates";
import { type Attack, again } from "./attack.ts";
import { lastFollower, peerPortsOf, restartText } from "./strangers.ts";

const HANDSHAKES_AT_A_TIME = 250;

/** Writes the certificates of a host and of its authority. @returns the settings that name them */
function certificateSettings(folder: string, prefix: "ssl" | "ssl.quorum"): readonly string[] {
  const keyStore = join(folder, `${prefix}.keys.pem`);
  const trustStore = join(folder, `${prefix}.trust.pem`);
  writeFileSync(keyStore, `${HOST.key}${HOST.cert}`, { mode: 0o600 });
  writeFileSync(trustStore, AUTHORITY);
  return [`${prefix}.keyStore.location=${keyStore}`, `${prefix}.trustStore.location=${trustStore}`];
}

/** A server that speaks TLS on its client port too, and asks for certificates. */
export function clientTlsSettings(folder: string): readonly string[] {
  return ["client.portUnification=true", "ssl.clientAuth=want", ...certificateSettings(folder, "ssl")];
}

/** Begins connections again and again, until the attack is over. @returns how many */
function begun(begin: () => Socket): Promise<number> {
  return again(HANDSHAKES_AT_A_TIME, async () => {
    const socket = begin();
    socket.on("error", () => {});
    await once(socket, "close").catch(() => {});
    // A refusal must not make it a loop that lets nothing else happen here.
    await delay(1);
  });
}

/** A handshake of a stranger, given up once it is done or refused. */
function strange(port: number, localAddress = "127.0.0.1"): Socket {
  const to = { port, host: "127.0.0.1", localAddress };
  const socket = connect({ ...to, rejectUnauthorized: false, ...STRANGER });
  socket.once("secureConnect", () => socket.destroy());
  return socket;
}

async function strangers(ports: readonly number[], addressCount: number): Promise<number> {
  let next = 0;
  return await begun(() => {
    const at = next++;
    return strange(ports[at % ports.length] ?? 0, `127.3.0.${1 + (at % addressCount)}`);
  });
}

/** Attacks by the cost that TLS has for the side that accepts it. */
export const HANDSHAKE_ATTACKS: readonly Attack[] = [
  {
    name: "tls-handshakes",
    sends: "TLS handshakes with a stranger's certificate, 250 at a time, each given up once it is done",
    settings: clientTlsSettings,
    async prepare({ port }) {
      return async () => `${await begun(() => strange(port))} handshakes`;
    },
  },
  {
    name: "tls-that-is-none",
    sends: "connections that begin like TLS and go on with 16 KiB of anything, 250 at a time",
    settings: clientTlsSettings,
    async prepare({ port }) {
      const bytes = Buffer.alloc(16_384, 0x5a);
      bytes.set([0x16, 0x03, 0x01, 0x3f, 0xfb, 0x01]);
      return async () => {
        const count = await begun(() => connectTcp({ port, host: "127.0.0.1" }).end(bytes).resume());
        return `${count} connections`;
      };
    },
  },
  {
    name: "https-handshakes",
    sends: "TLS handshakes of 4 addresses with a stranger's certificate to the admin port, 250 at a time",
    settings: (folder) => [
      ...certificateSettings(folder, "ssl.quorum"),
      ...["admin.enableServer=true", "admin.serverAddress=127.0.0.1", "admin.serverPort=0", "admin.forceHttps=true"],
    ],
    async prepare(target) {
      const port = /https:\/\/127\.0\.0\.1:(\d+)/.exec(target.logs().join("\n"))?.[1];
      if (port === undefined) throw new Error("the log names no admin port with HTTPS");
      return async () => `${await strangers([Number(port)], 4)} handshakes`;
    },
  },
  {
    name: "peer-tls-handshakes",
    sends: "TLS handshakes of 200 addresses with a stranger's certificate to every peer port while a member restarts",
    target: "ensemble",
    settings: (folder) => [
      ...certificateSettings(folder, "ssl.quorum"),
      "sslQuorum=true",
      "ssl.quorum.hostnameVerification=false",
    ],
    async prepare({ members }) {
      const ports = members.flatMap(peerPortsOf);
      return async () => {
        const member = await lastFollower(members);
        const flood = strangers(ports, 200);
        const answer = await restartText(member);
        return `${await flood} handshakes; ${answer}`;
      };
    },
  },
];
