/**
 * Requests that a browser makes for another site are refused before anything is read. A server in
 * front of this handler may have checked the same; the handler does not rely on it.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { type Problem, refuse } from "./problem.ts";

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

export interface HostCheck {
  /** Only requests from this machine are expected. */
  readonly isLoopback: boolean;
  /** Host names of the console; empty: any where it is not bound to loopback. */
  readonly hosts: readonly string[];
}

/** The reason to refuse a request; undefined if there is none. */
export function requestProblem({ headers }: IncomingMessage, { isLoopback, hosts }: HostCheck): Problem | undefined {
  const host = headers.host ?? "";
  if (isFromAnotherSite(headers)) {
    return refuse(403, "OTHER_SITE", "Requests from other sites are refused").problem;
  }
  const name = host.replace(/:\d+$/, "").toLowerCase();
  const isKnown = hosts.some((known) => known.toLowerCase() === name);
  // A name that an attacker's DNS resolves to this machine is not localhost.
  if (!isKnown && (isLoopback ? !LOOPBACK.test(host) : hosts.length > 0)) {
    const detail = isLoopback
      ? "this console accepts requests from this machine only, by the name localhost"
      : "this console accepts requests for its configured host names only";
    return refuse(421, "OTHER_HOST", "The host name is not this console's", { detail }).problem;
  }
  return undefined;
}

/** Whether a browser may have made the request: only those send these headers. */
export function isFromBrowser({ origin, cookie, ...headers }: IncomingHttpHeaders): boolean {
  return origin !== undefined || cookie !== undefined || headers["sec-fetch-site"] !== undefined;
}

export function isSecure({ socket }: IncomingMessage): boolean {
  return socket instanceof TLSSocket;
}

export function addressOf({ socket }: IncomingMessage): string {
  return (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
}

function isFromAnotherSite({ origin, host, ...headers }: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  // A link from another page may open the console: a navigation reads nothing for that page.
  const isNavigation = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  if (site !== undefined && site !== "same-origin" && site !== "none" && !isNavigation) return true;
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
}
