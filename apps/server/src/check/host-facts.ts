import { lookup } from "node:dns/promises";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import type { ListedHost, PeerPort } from "@zooid/doctor";
import type { Member, ServerId } from "@zooid/model";

const LOOKUP_MS = 3_000;
const CONNECT_MS = 2_000;

/** Looks up each listed host, and dials the election ports of the others. */
export async function hostFacts(
  servers: readonly Member[],
  own: number | undefined,
  subjectOf: (sid: ServerId) => string,
): Promise<readonly ListedHost[]> {
  return await Promise.all(
    servers.map(async ({ sid, host, electionPort }) => {
      const addresses = await addressesOf(host);
      const isOwn = sid === own;
      const ports: readonly PeerPort[] =
        isOwn || addresses.length === 0
          ? []
          : [{ use: "election", port: electionPort, fault: await dialFault(host, electionPort) }];
      return { sid, host, subject: subjectOf(sid), isOwn, addresses, ports };
    }),
  );
}

/** The addresses of this machine's interfaces. */
export function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
}

/** Addresses of this machine that hosts of the internet may reach. */
export function publicAddresses(): readonly string[] {
  return ownAddresses().filter((address) => !PRIVATE.some((range) => range.test(address)));
}

/** RFC 1918, 6598, 3927, 4193 and 4291. */
const PRIVATE: readonly RegExp[] = [
  /^127\./,
  /^10\./,
  /^192\.168\./,
  /^172\.(1[6-9]|2\d|3[01])\./,
  /^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
  /^169\.254\./,
  /^::1$/,
  /^f[cd]/i,
  /^fe[89ab]/i,
];

async function addressesOf(host: string): Promise<readonly string[]> {
  const timer = Promise.withResolvers<readonly string[]>();
  const timeout = setTimeout(() => timer.resolve([]), LOOKUP_MS);
  const found = lookup(host, { all: true }).then(
    (all) => all.map(({ address }) => address),
    () => [],
  );
  try {
    return await Promise.race([found, timer.promise]);
  } finally {
    clearTimeout(timeout);
  }
}

/** Undefined: the port was opened. Nothing is sent. */
function dialFault(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_MS });
    const end = (fault: string | undefined): void => {
      socket.destroy();
      resolve(fault);
    };
    socket.once("connect", () => end(undefined));
    socket.once("timeout", () => end(`no answer within ${CONNECT_MS} ms`));
    socket.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}
