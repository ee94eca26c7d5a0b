import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "node:tls";
import { AUTHORITY, HOST, STRANGER } from "../../packages/server/src/testing/certificates.ts";
import { type Attack, range } from "./attack.ts";

const ATTACK_MS = 5000;
const HANDSHAKES_AT_A_TIME = 250;

/** A server that speaks TLS on its client port too, and asks for certificates. */
function settings(folder: string): readonly string[] {
  const keyStore = join(folder, "keys.pem");
  const trustStore = join(folder, "trust.pem");
  writeFileSync(keyStore, `${HOST.key}${HOST.cert}`);
  writeFileSync(trustStore, AUTHORITY);
  return [
    "client.portUnification=true",
    `ssl.keyStore.location=${keyStore}`,
    `ssl.trustStore.location=${trustStore}`,
    "ssl.clientAuth=want",
  ];
}

/** Connections begun again and again, many at a time, until the attack is over. @returns how many */
async function again(step: () => Promise<void>): Promise<number> {
  const endMs = performance.now() + ATTACK_MS;
  let count = 0;
  await Promise.all(
    range(HANDSHAKES_AT_A_TIME, async () => {
      for (; performance.now() < endMs; count++) {
        await step();
        // A refusal must not make it a loop that lets nothing else happen here.
        await delay(1);
      }
    }),
  );
  return count;
}

/** What TLS costs whoever accepts it. */
export const HANDSHAKE_ATTACKS: readonly Attack[] = [
  {
    name: "tls-handshakes",
    sends: "TLS handshakes with a stranger's certificate, 250 at a time, each given up once it is done",
    settings,
    async prepare({ port }) {
      return async () => {
        const count = await again(async () => {
          const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...STRANGER });
          socket.on("error", () => {});
          socket.once("secureConnect", () => socket.destroy());
          await once(socket, "close").catch(() => {});
        });
        return `${count} handshakes`;
      };
    },
  },
  {
    name: "tls-that-is-none",
    sends: "connections that begin like TLS and go on with 16 KiB of anything, 250 at a time",
    settings,
    async prepare({ port }) {
      const bytes = Buffer.alloc(16_384, 0x5a);
      bytes.set([0x16, 0x03, 0x01, 0x3f, 0xfb, 0x01]);
      return async () => {
        const count = await again(async () => {
          const socket = connectTcp({ port, host: "127.0.0.1" });
          socket.on("error", () => {});
          socket.end(bytes);
          socket.resume();
          await once(socket, "close").catch(() => {});
        });
        return `${count} connections`;
      };
    },
  },
];
