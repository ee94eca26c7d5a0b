import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { isIP, type Socket } from "node:net";
import { connect, createServer, TLSSocket } from "node:tls";
import type { ServerId } from "@zooid/model";
import type { PeerTransport } from "./peer-transport.ts";

/** PEM files: this server's private key, its certificate (with the chain, where there is one), and who signs for the ensemble. */
export interface PeerTlsFiles {
  readonly key: string;
  readonly cert: string;
  readonly ca: string;
}

export interface TlsServers {
  readonly sid: ServerId;
  /** Where a server is, as the configuration says it. */
  readonly hostOf: (sid: ServerId) => string;
}

const TOO_OPEN = 0o027;

/** Reads the files and checks that they belong together; whatever is wrong becomes a problem, and nothing is returned then. */
export function readPeerTls(files: PeerTlsFiles, servers: TlsServers, problems: string[]): PeerTransport | undefined {
  const found = problems.length;
  const read = (name: keyof PeerTlsFiles): Buffer => {
    const file = files[name];
    try {
      const { mode } = statSync(file);
      if (name === "key" && process.platform !== "win32" && (mode & TOO_OPEN) !== 0) {
        problems.push(`the peers' private key ${file} is open to other users: chmod 600 ${file}`);
      }
      return readFileSync(file);
    } catch (error) {
      problems.push(`zooid.peerTls.${name}: ${error instanceof Error ? error.message : String(error)}`);
      return Buffer.alloc(0);
    }
  };
  const pem = { key: read("key"), cert: read("cert"), ca: read("ca") };
  if (problems.length > found) return undefined;
  try {
    const certificate = new X509Certificate(pem.cert);
    if (!certificate.checkPrivateKey(createPrivateKey(pem.key))) {
      problems.push(`the peers' private key ${files.key} does not belong to the certificate ${files.cert}`);
    }
    const fault = certificateFault(certificate, servers.sid, servers.hostOf(servers.sid));
    if (fault !== undefined) problems.push(`${files.cert}: ${fault}`);
    return problems.length > found ? undefined : tlsTransport(pem, servers);
  } catch (error) {
    const names = `${files.key}, ${files.cert}, ${files.ca}`;
    problems.push(`zooid.peerTls (${names}) cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/**
 * What speaks against a certificate being this server's. It names the server by a URI `zk://<anything>/<sid>`; only where it has no such
 * URI, by the name or address at which the configuration has the server.
 */
export function certificateFault(certificate: X509Certificate, sid: ServerId, host: string): string | undefined {
  const names = certificate.subjectAltName ?? "";
  const sids = [...names.matchAll(/(?:^|, )URI:"?zk:\/\/[^,"/]*\/(\d+)"?(?=,|$)/g)].map((match) => Number(match[1]));
  if (sids.length > 0) {
    return sids.includes(sid) ? undefined : `the certificate is for server ${sids.join(", ")}, not for server ${sid}`;
  }
  const isNamed = (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
  return isNamed ? undefined : `the certificate names neither zk://…/${sid} nor ${host}, where server ${sid} is`;
}

/** TLS 1.3 with certificates on both sides, which the same authority has signed. */
export function tlsTransport(
  pem: { readonly key: Buffer; readonly cert: Buffer; readonly ca: Buffer },
  { hostOf }: Pick<TlsServers, "hostOf">,
): PeerTransport {
  const options = { ...pem, minVersion: "TLSv1.3", rejectUnauthorized: true } as const;
  /** Connections that came and have not finished TLS's own handshake, by where they came from. */
  const waiting = new Map<string, { readonly socket: Socket; readonly ready: (socket: Socket) => void }>();
  // It never listens: it is handed connections of our own listener.
  const server = createServer({ ...options, requestCert: true });
  server.on("secureConnection", (socket) => waiting.get(originOf(socket))?.ready(socket));
  server.on("tlsClientError", (error, socket) => waiting.get(originOf(socket))?.socket.destroy(error));
  return {
    connect: ({ host, port }, ready) => {
      // Whether it is the right one is asked when it has said which it is: a certificate names a server, not only a host.
      const socket = connect({ ...options, host, port, checkServerIdentity: () => undefined });
      return socket.once("secureConnect", () => ready(socket));
    },
    accept: (socket, ready) => {
      const origin = originOf(socket);
      waiting.set(origin, { socket, ready });
      socket.once("close", () => waiting.delete(origin));
      server.emit("connection", socket);
    },
    faultOf: (socket, sid) => {
      const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
      if (certificate === undefined) return "there is no certificate";
      return certificateFault(certificate, sid, hostOf(sid));
    },
  };
}

function originOf(socket: Socket): string {
  return `${socket.remoteAddress ?? ""} ${socket.remotePort ?? 0}`;
}
