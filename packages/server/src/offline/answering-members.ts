import { connect } from "node:net";
import { hostPort, type Member } from "@zooid/model";

/** Time in which an address must accept a connection. */
const TIMEOUT_MS = 2000;

/** An address of a member that accepts connections. */
export interface AnsweringMember {
  readonly sid: number;
  readonly address: string;
}

/**
 * Tries all addresses of members at once. One that cannot be resolved or reached, or that is
 * silent, does not answer; that proves nothing about its server, which a broken network may hide.
 */
export async function answeringMembers(
  members: readonly Member[],
  timeoutMs: number = TIMEOUT_MS,
): Promise<readonly AnsweringMember[]> {
  const tried = members.flatMap(({ sid, host, quorumPort, electionPort, clientAddress }) => {
    const places = [
      { host, port: electionPort },
      { host, port: quorumPort },
      ...(clientAddress === undefined ? [] : [{ host: hostOf(clientAddress.host) ?? host, port: clientAddress.port }]),
    ];
    return places.filter(({ port }) => port > 0).map((place) => ({ sid, place }));
  });
  const found = await Promise.all(
    tried.map(async ({ sid, place }) => ({
      sid,
      address: hostPort(place.host, place.port),
      answers: await accepts(place, timeoutMs),
    })),
  );
  return found.filter(({ answers }) => answers).map(({ sid, address }) => ({ sid, address }));
}

/** Undefined for every address of the machine. */
function hostOf(host: string | undefined): string | undefined {
  return host === "0.0.0.0" || host === "::" ? undefined : host;
}

function accepts(
  { host, port }: { readonly host: string; readonly port: number },
  timeoutMs: number,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (answers: boolean): void => {
      socket.destroy();
      resolve(answers);
    };
    socket.setTimeout(timeoutMs, () => end(false));
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}
