import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { lookup } from "node:dns/promises";
import { readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { connect, type SecureContextOptions, TLSSocket } from "node:tls";
import { pemBlocks } from "@zooid/java-files";
import { addressShare, type ClientShare, javaAddress, type ServerId } from "@zooid/model";
import { codeOf } from "../tls/handshake-fault.ts";
import { notAfterSeconds, ownCertificate } from "../tls/own-certificate.ts";
import { TlsAcceptor } from "../tls/tls-acceptor.ts";
import { parseTls, type TlsOptions } from "../tls/tls-config.ts";
import { CLOSED_EARLY, certificateReason, NO_CERTIFICATE, NO_TLS, peerTlsReason } from "./peer-tls-reason.ts";
import type { PeerTransport } from "./peer-transport.ts";

/**
 * PEM files: this server's private key, its certificate (with the chain, if there is one), and the
 * ensemble's authorities.
 */
export interface PeerTlsFiles {
  readonly key: string;
  readonly cert: string;
  readonly ca: string;
}

export interface TlsServers {
  readonly sid: ServerId;
  /**
   * The host in a server's line; undefined for a server that is not listed, and may be about to
   * join.
   */
  readonly hostOf: (sid: ServerId) => string | undefined;
}

const TOO_OPEN = 0o027;
const HOST_CHARS_MAX = 255;

/**
 * Reads the files and checks that they belong together; errors are added to the problems, and the
 * result is then undefined.
 */
export function readPeerTls(files: PeerTlsFiles, servers: TlsServers, problems: string[]): PeerTransport | undefined {
  const context = readPem(files, servers, problems);
  if (context === undefined) return undefined;
  const reload = (): SecureContextOptions | readonly string[] => {
    const found: string[] = [];
    return readPem(files, servers, found) ?? found;
  };
  return tlsTransport(context, servers, { material: { files: [], reload } });
}

function readPem(files: PeerTlsFiles, servers: TlsServers, problems: string[]): SecureContextOptions | undefined {
  const found = problems.length;
  const read = (name: keyof PeerTlsFiles): Buffer => {
    const file = files[name];
    try {
      const { mode } = statSync(file);
      if (name === "key" && process.platform !== "win32" && (mode & TOO_OPEN) !== 0) {
        problems.push(`zooid.peerTls.key: ${file} is open to other users: chmod 600 ${file}`);
      }
      return readFileSync(file);
    } catch (error) {
      problems.push(`zooid.peerTls.${name}: ${error instanceof Error ? error.message : String(error)}`);
      return Buffer.alloc(0);
    }
  };
  const pem = { key: read("key"), cert: read("cert"), ca: read("ca") };
  if (problems.length > found) return undefined;
  const parsed = <T>(name: keyof PeerTlsFiles, parse: () => T): T | undefined => {
    try {
      return parse();
    } catch {
      problems.push(`zooid.peerTls.${name}: ${files[name]} ${contentFault(name, files[name], pem[name])}`);
      return undefined;
    }
  };
  const key = parsed("key", () => createPrivateKey(pem.key));
  const certificate = parsed("cert", () => new X509Certificate(pem.cert));
  parsed("ca", () => authoritiesOf(pem.ca));
  if (key !== undefined && certificate?.checkPrivateKey(key) === false)
    problems.push(`zooid.peerTls.key: ${files.key} does not belong to the certificate ${files.cert}`);
  const host = servers.hostOf(servers.sid) ?? "";
  const fault = certificate === undefined ? undefined : certificateFault(certificate, servers.sid, host);
  if (fault !== undefined) problems.push(`zooid.peerTls.cert: ${files.cert}: ${fault}`);
  if (problems.length > found) return undefined;
  return { key: pem.key, cert: pem.cert, ca: [pem.ca.toString()], minVersion: "TLSv1.3" };
}

/**
 * @throws where it has none, or one that is damaged: with no authority no server could be told from
 *   a stranger
 */
function authoritiesOf(pem: Buffer): readonly X509Certificate[] {
  const text = pem.toString("latin1");
  const blocks = CERTIFICATE_LABELS.flatMap((label) => pemBlocks(text, label));
  if (blocks.length === 0) throw new RangeError("no certificate");
  return blocks.map((block) => new X509Certificate(block));
}

const CERTIFICATE_LABELS = ["CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE"];

/** OpenSSL's own texts have numbers and names of its functions. */
function contentFault(name: keyof PeerTlsFiles, file: string, pem: Buffer): string {
  if (name !== "key") return "holds no certificate in PEM, or a damaged one";
  if (!pem.includes("ENCRYPTED")) return "holds no private key in PEM, or a damaged one";
  return `is encrypted, and no setting has its password; openssl pkey -in ${file} -out FILE writes it without one`;
}

/**
 * The reason why a certificate is not this server's. A certificate names the server by a URI
 * `zk://<anything>/<sid>`, or, only without such a URI, by the server's configured name or address.
 */
export function certificateFault(certificate: X509Certificate, sid: ServerId, host: string): string | undefined {
  const sids = namedServers(certificate);
  if (sids.length > 0) {
    return sids.includes(sid) ? undefined : `the certificate is for server ${sids.join(", ")}, not for server ${sid}`;
  }
  const isNamed = (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
  return isNamed ? undefined : `the certificate names neither zk://…/${sid} nor ${host}, where server ${sid} is`;
}

/** Authorities between a server's certificate and one that is trusted. */
const CHAIN_MAX = 8;

/** Whether a certificate, or one above it that came with it, is an authority, or issued by one. */
function isIssuedBy(certificate: X509Certificate, authorities: readonly X509Certificate[]): boolean {
  let one: X509Certificate | undefined = certificate;
  for (let i = 0; one !== undefined && i < CHAIN_MAX; i++) {
    const { fingerprint256, issuerCertificate }: X509Certificate = one;
    for (const authority of authorities) {
      if (authority.fingerprint256 === fingerprint256) return true;
      if (one.checkIssued(authority) && one.verify(authority.publicKey)) return true;
    }
    one = issuerCertificate;
  }
  return false;
}

function authoritiesIn({ ca = [] }: SecureContextOptions): readonly X509Certificate[] {
  return [ca].flat().flatMap((one) => {
    const bytes = Buffer.from(one);
    return bytes.includes("-----BEGIN") ? authoritiesOf(bytes) : [new X509Certificate(bytes)];
  });
}

/** A hash of key, certificate, authorities and revocation lists, in hexadecimal. */
function materialOf({ key, cert, ca, pfx, crl }: SecureContextOptions): string {
  const hash = createHash("sha256");
  for (const part of [key, cert, ca, pfx, crl].flat()) {
    if (typeof part === "string" || part instanceof Uint8Array) hash.update(part);
    else hash.update(JSON.stringify(part ?? null));
    hash.update("\0");
  }
  return hash.digest("hex");
}

function namedServers(certificate: X509Certificate): readonly number[] {
  const names = certificate.subjectAltName ?? "";
  return [...names.matchAll(/(?:^|, )URI:"?zk:\/\/[^,"/]*\/(\d+)"?(?=,|$)/g)].map((match) => Number(match[1]));
}

/**
 * The reason why a server that is not listed is not the one that it says: its certificate names
 * `zk://<anything>/<sid>`, or the host that the server says it is at, and that host has the address
 * of the connection. Otherwise any certificate of a company's authority would get the data.
 */
function joinerFault(
  certificate: X509Certificate,
  { sid, host, address }: { readonly sid: ServerId; readonly host: string; readonly address: string },
  resolve: ResolveAll,
): string | undefined | Promise<string | undefined> {
  const fault = certificateFault(certificate, sid, host === "" ? address : host);
  if (fault !== undefined || host === "" || namedServers(certificate).length > 0) return fault;
  const said = `server ${sid}, which is not listed, says that it is at ${host.slice(0, HOST_CHARS_MAX)}`;
  const elsewhere = `${said}, and connects from ${address}, which is not an address of that host`;
  if (isIP(host) !== 0) return javaAddress(host) === address ? undefined : elsewhere;
  return resolve(host).then(
    (found) => (found.some((one) => javaAddress(one) === address) ? undefined : elsewhere),
    (error: unknown) => `${said}, which does not resolve: ${error instanceof Error ? error.message : String(error)}`,
  );
}

async function systemResolve(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** TLS between servers by key stores, as ZooKeeper's `ssl.quorum.*` settings. */
export interface PeerStoreOptions extends Omit<TlsOptions, "clientAuth" | "clientHostnameVerification"> {
  /** Whether certificates must name their servers. Default true. */
  readonly hostnameVerification?: boolean;
  /**
   * The same for servers that connect to this one; only with `hostnameVerification`. Default true.
   */
  readonly clientHostnameVerification?: boolean;
}

/** As {@link readPeerTls}, for stores. */
export function readPeerStores(
  { hostnameVerification = true, clientHostnameVerification = true, ...options }: PeerStoreOptions,
  servers: TlsServers,
  problems: string[],
  notices: string[],
): PeerTransport | undefined {
  const config = parseTls({ ...options, clientAuth: "need" }, "ssl.quorum", problems, notices);
  if (config === undefined) return undefined;
  const { cert } = config.context;
  // The other servers will see the PKCS#12 file's name of this server.
  if (hostnameVerification && cert instanceof Buffer) {
    const fault = certificateFault(new X509Certificate(cert), servers.sid, servers.hostOf(servers.sid) ?? "");
    if (fault !== undefined) problems.push(`${options.keyStore?.location}: ${fault}`);
  }
  if (!hostnameVerification || !clientHostnameVerification) {
    const setting = hostnameVerification ? "clientHostnameVerification" : "hostnameVerification";
    notices.push(
      `ssl.quorum.${setting}=false: a host with any certificate of these authorities can take the place of a server`,
    );
  }
  const checks = { dialed: hostnameVerification, accepted: hostnameVerification && clientHostnameVerification };
  const { reload, watched } = config;
  return tlsTransport(config.context, servers, { checks, material: { files: watched, reload } });
}

interface TransportOptions {
  /**
   * The connections on which the certificate must name the server at the other end. Default: all.
   */
  readonly checks?: { readonly dialed: boolean; readonly accepted: boolean };
  /** Files that are read again: when one changes, or on demand. Default: none. */
  readonly resolve?: ResolveAll;
  readonly material?: { readonly files: readonly string[]; reload(): SecureContextOptions | readonly string[] };
}

/** All addresses of a host's name; rejects as the system's resolver. */
export type ResolveAll = (host: string) => Promise<readonly string[]>;

/**
 * Servers take turns among themselves; strangers have a part of the turns while servers wait,
 * however many they are.
 */
function peerShare(address: string, isMember: boolean): ClientShare {
  return { share: isMember ? address : addressShare(address), isProxied: !isMember };
}

const certificates = new WeakMap<TLSSocket, X509Certificate>();

/** Node.js takes the certificate out of the chain of a dialed connection: it gives it once. */
function certificateOf(socket: TLSSocket): X509Certificate | undefined {
  const found = certificates.get(socket) ?? socket.getPeerX509Certificate();
  if (found !== undefined) certificates.set(socket, found);
  return found;
}

/** Mutual TLS with certificates of one authority. */
export function tlsTransport(
  context: SecureContextOptions,
  { hostOf }: Pick<TlsServers, "hostOf">,
  { checks = { dialed: true, accepted: true }, resolve = systemResolve, material }: TransportOptions = {},
): PeerTransport {
  let current = context;
  let own = ownCertificate(context);
  let authorities = authoritiesIn(context);
  // Certificates are verified by both sides; the reason of a refusal is sent to the other side.
  const acceptor = new TlsAcceptor({ ...context, requestCert: true, rejectUnauthorized: false });
  const accepted = new WeakSet<object>();
  return {
    sharedReads: false,
    get certificate() {
      return own?.fingerprint256;
    },
    get authorities() {
      return authorities.map(({ fingerprint256 }) => fingerprint256);
    },
    get material() {
      return materialOf(current);
    },
    connect: ({ host, port }, ready) => {
      // The name is verified after the Hello: a certificate names a server, not only a host.
      const options = { rejectUnauthorized: false, host, port, checkServerIdentity: () => undefined };
      const socket = connect({ ...current, ...options });
      return socket.once("secureConnect", () => ready(socket));
    },
    accept: (socket, ready, { isMember, failed }) =>
      acceptor.accept(
        socket,
        (secured) => {
          accepted.add(secured);
          ready(secured);
        },
        (error, certificateFault) => {
          // A connection that ends before it identified itself, such as a port probe, is not
          // reported.
          const hasEnded = codeOf(error) === "ECONNRESET";
          if (!hasEnded || certificateFault !== undefined) failed(peerTlsReason(error, certificateFault));
        },
        peerShare(socket.remoteAddress ?? "", isMember),
      ),
    // Node.js reports a handshake that the other side ended as a reset connection.
    reasonOf: (error) => (error === undefined || codeOf(error) === "ECONNRESET" ? CLOSED_EARLY : peerTlsReason(error)),
    distrust: (socket) => {
      if (!(socket instanceof TLSSocket)) return NO_TLS;
      if (certificateOf(socket) === undefined) return NO_CERTIFICATE;
      return socket.authorized ? undefined : certificateReason(String(socket.authorizationError));
    },
    faultOf: (socket, { sid, host }) => {
      const certificate = socket instanceof TLSSocket ? certificateOf(socket) : undefined;
      if (certificate === undefined) return NO_CERTIFICATE;
      const isAccepted = accepted.has(socket);
      if (!(isAccepted ? checks.accepted : checks.dialed)) return undefined;
      const listed = hostOf(sid);
      if (listed !== undefined) return certificateFault(certificate, sid, listed);
      const address = javaAddress((socket instanceof TLSSocket ? socket.remoteAddress : undefined) ?? "");
      return joinerFault(certificate, { sid, host, address }, resolve);
    },
    knowsIssuerOf: (socket) => {
      const certificate = socket instanceof TLSSocket ? certificateOf(socket) : undefined;
      return certificate === undefined || current.ca === undefined || isIssuedBy(certificate, authorities);
    },
    certificateNotAfter: () => notAfterSeconds(own),
    ...(material === undefined
      ? {}
      : {
          files: material.files,
          reload: () => {
            const again = material.reload();
            if ("length" in again) return again;
            current = again;
            own = ownCertificate(again);
            authorities = authoritiesIn(again);
            acceptor.setSecureContext(again);
            return [];
          },
        }),
  };
}
