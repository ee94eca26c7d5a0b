import { connect } from "node:tls";
import { adminCommand, type HostAddress, isZkError } from "@zooid/client";
import { hostPort } from "@zooid/model";

const PROBE_MS = 1_000;

/**
 * Why a server that is there gives no session: it has no quorum, one side speaks TLS and the other
 * does not, or it is another service. It asks the server a four-letter word, and offers a TLS
 * handshake.
 *
 * @param isSecure whether the session was tried with TLS
 * @returns undefined if neither explains it
 */
export async function diagnose(
  { host, port }: HostAddress,
  isSecure: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  const server = hostPort(host, port);
  let fault: unknown;
  const answer = await adminCommand(server, "srvr", { signal, timeoutMs: PROBE_MS }).catch((error: unknown) => {
    fault = error;
    return undefined;
  });
  signal.throwIfAborted();
  if (answer !== undefined) {
    if (isSecure) return `${server} does not speak TLS on this port; connect to its secureClientPort, or without TLS`;
    // Apache's words for a server without a role; every other answer comes from one that serves.
    if (!/^Mode: /m.test(answer))
      return `${server} runs and has no quorum; its log, and /readyz on its admin port, say why`;
    return undefined;
  }
  if (!isSecure && (await speaksTls(host, port, signal))) {
    return `${server} speaks TLS on this port; set zookeeper.client.secure=true and a trust store`;
  }
  const received = receivedIn(fault);
  return received === undefined ? undefined : `${server} is the port of another service: it answered ${received}`;
}

/** The bytes that another service has sent in place of an answer. */
function receivedIn(error: unknown): string | undefined {
  const cause = isZkError(error) ? error.cause : undefined;
  return cause instanceof Error && "received" in cause ? String(cause.received) : undefined;
}

/** Whether a server answers a TLS handshake, be it with an alert. */
function speaksTls(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  // Only whether it is TLS is of interest: nothing is sent to the server behind the handshake.
  const socket = connect({ host, port, rejectUnauthorized: false, timeout: PROBE_MS });
  const end = (speaks: boolean): void => {
    socket.destroy();
    resolve(speaks);
  };
  socket.once("secureConnect", () => end(true));
  socket.once("timeout", () => end(false));
  socket.once("error", (error: NodeJS.ErrnoException) => end(error.code?.includes("ALERT") === true));
  socket.once("close", () => end(false));
  signal.addEventListener("abort", () => end(false), { once: true });
  return promise;
}
