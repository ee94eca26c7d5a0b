import { connect as connectPlain } from "node:net";
import { connect as connectTls, type SecureContextOptions } from "node:tls";
import type { ServerOptions } from "@zooid/embedded-server";
import { identityOf, keyStoreType, openKeyStore } from "@zooid/java-files";
import { askedHost } from "../configuration/asked-host.ts";
import { askSrvr, checkHealth } from "./health.ts";

export interface Status {
  readonly isServing: boolean;
  /**
   * As `zkServer.sh status` prints it: the port, and a line `Mode:` while the server serves
   * clients.
   */
  readonly lines: readonly string[];
}

/** The port that is asked: the plain one, or the one for TLS where there is no other. */
interface ClientPort {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/**
 * Asks the server with this configuration, on this machine, for its role: on the client port, and
 * if that gives none, on the admin port for the reason.
 */
export async function checkStatus(options: ServerOptions): Promise<Status> {
  const asked = clientPortOf(options);
  const found = `Client port found: ${asked.port}. Client address: ${asked.host}. Client SSL: ${asked.isSecure}.`;
  if (asked.port === 0) {
    const name = asked.isSecure ? "secureClientPort" : "clientPort";
    return { isServing: false, lines: [`${name}=0 lets the system choose the port: the server's log has the number`] };
  }
  try {
    const answer = await ask(asked, options);
    const mode = /^Mode: .*$/m.exec(answer)?.[0];
    if (mode !== undefined) return { isServing: true, lines: [found, mode, ...(await ofEnsemble(options))] };
    const [first = ""] = answer.trim().split("\n");
    return { isServing: false, lines: [found, first === "" ? "An empty answer." : first, ...(await reasons(options))] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      isServing: false,
      lines: [found, `Error contacting service. It is probably not running. (${reason})`, ...(await reasons(options))],
    };
  }
}

function clientPortOf({ plainPort, port = 2181, address, securePort, secureAddress }: ServerOptions): ClientPort {
  if (plainPort === false && securePort !== undefined)
    return { host: askedHost(secureAddress), port: securePort, isSecure: true };
  return { host: askedHost(address), port, isSecure: false };
}

/**
 * How many links to other servers are protected, and the list of servers in force, from the admin
 * port, if it answers.
 */
async function ofEnsemble({ ensemble, admin }: ServerOptions): Promise<readonly string[]> {
  if (ensemble === undefined || admin?.enabled === false || admin?.port === 0) return [];
  const { text } = await checkHealth({ ...(admin === undefined ? {} : { admin }) });
  const counts = /^\[\+\]peer-links ok: (.*)$/m.exec(text)?.[1];
  const members = /^\[\+\]members ok: (.*)$/m.exec(text)?.[1];
  return [
    ...(counts === undefined ? [] : [`Peer links: ${counts}`]),
    ...(members === undefined ? [] : [`Members: ${members}`]),
  ];
}

/** The failed checks of the admin port, if it answers. */
async function reasons({ admin }: ServerOptions): Promise<readonly string[]> {
  if (admin?.enabled === false || admin?.port === 0) return [];
  const { isServing, text } = await checkHealth({ ...(admin === undefined ? {} : { admin }) });
  if (isServing) return ["The admin port reports that clients are served: compare its configuration."];
  return text.split("\n").filter((line) => line.startsWith("[-]"));
}

/**
 * Its certificate is not verified: the question goes to this machine, and the answer is no secret.
 */
function ask({ host, port, isSecure }: ClientPort, options: ServerOptions): Promise<string> {
  if (!isSecure) return askSrvr(connectPlain({ host, port }));
  return askSrvr(connectTls({ host, port, rejectUnauthorized: false, ...identity(options) }));
}

/**
 * The server's own certificate, for a port that accepts only clients with one of its authorities.
 */
function identity({ tls }: ServerOptions): SecureContextOptions {
  const { location, type: named, password, passwordPath } = tls?.keyStore ?? {};
  if (location === undefined) return {};
  const type = keyStoreType(location, named);
  if (type === undefined || type === "BCFKS") return {};
  return identityOf(openKeyStore(location, { type, password, passwordPath })) ?? {};
}
