import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import { connect, type Socket } from "node:net";
import type { ServerOptions } from "@zooid/embedded-server";
import { hostPort } from "@zooid/model";
import { askedHost } from "../configuration/asked-host.ts";

/** Within the limit that container engines have by default. */
const TIMEOUT_MS = 5000;

export interface Health {
  readonly isServing: boolean;
  /** The question, and its answer. */
  readonly text: string;
}

/**
 * Asks the server with this configuration, on this machine, whether it serves clients: on the admin
 * port, or on the client port where there is none.
 */
export async function checkHealth({ admin, port, address }: ServerOptions): Promise<Health> {
  if (admin?.enabled === false || admin?.port === 0)
    return await askClientPort(askedHost(address), port ?? 2181).catch(failed("the client port"));
  const place = hostPort(askedHost(admin?.address), admin?.port ?? 8080);
  const url = `${admin?.forceHttps === true ? "https" : "http"}://${place}/readyz`;
  return await askAdminPort(url).catch(failed(url));
}

function failed(asked: string): (error: unknown) => Health {
  return (error) => ({ isServing: false, text: `${asked}: ${error instanceof Error ? error.message : error}` });
}

/**
 * Its certificate is not verified: the question goes to this machine, and the answer is no secret.
 */
function askAdminPort(url: string): Promise<Health> {
  const get = url.startsWith("https:") ? getHttps : getHttp;
  return new Promise((resolve, reject) => {
    const request = get(url, { timeout: TIMEOUT_MS, rejectUnauthorized: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.once("error", reject);
      response.once("end", () => resolve({ isServing: response.statusCode === 200, text: text.trim() }));
    });
    request.once("timeout", () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    request.once("error", reject);
  });
}

/** `srvr` has a mode only where clients are served. */
async function askClientPort(host: string, port: number): Promise<Health> {
  const text = await askSrvr(connect({ host, port }));
  return { isServing: /^Mode: /m.test(text), text: text.trim() };
}

/** The answer to the four-letter word `srvr` on a new connection to a client port. */
export function askSrvr(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.once("error", reject);
    socket.once("close", () => resolve(text));
    socket.end("srvr");
  });
}
