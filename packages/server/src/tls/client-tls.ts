import { constants } from "node:crypto";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { hostPort, type TrustedProxies } from "@zooid/model";
import type { RefusalLog } from "../operators/refusal-log.ts";
import { certificateReason, handshakeReason } from "./handshake-reason.ts";
import { subjectName } from "./subject-name.ts";
import { TlsAcceptor } from "./tls-acceptor.ts";
import type { TlsConfig } from "./tls-config.ts";

/** The first byte of every TLS connection; no other protocol of a client port begins with it. */
const TLS_HANDSHAKE = 0x16;

/**
 * Receives a client whose bytes can be read; `certificateSubject` is its certificate's subject, if
 * it has one.
 */
export type ClientTaker = (socket: Socket, address: string, certificateSubject?: string) => void;

/**
 * TLS of one client port: for all of its connections, or for those that begin with a TLS handshake.
 */
export class ClientTls {
  readonly #config: TlsConfig;
  readonly #refusals: RefusalLog;
  readonly #take: ClientTaker;
  readonly #acceptor: TlsAcceptor;
  /** Connections that have not sent their first byte yet. */
  readonly #silent = new Set<Socket>();

  constructor(config: TlsConfig, refusals: RefusalLog, take: ClientTaker, trustedProxies?: TrustedProxies) {
    this.#config = config;
    this.#refusals = refusals;
    this.#take = take;
    const options = {
      ...config.context,
      requestCert: config.clientAuth !== "none",
      rejectUnauthorized: config.clientAuth === "need",
      handshakeTimeout: config.handshakeTimeoutMs,
      // No session resumption: every connection is verified with the current certificates.
      secureOptions: constants.SSL_OP_NO_TICKET,
    };
    this.#acceptor = new TlsAcceptor(options, trustedProxies);
  }

  /** Handshakes in progress. */
  get handshakeCount(): number {
    return this.#acceptor.waitingCount;
  }

  /** Accepts a connection of a TLS port. */
  accept(socket: Socket, address: string): void {
    const peer = `/${hostPort(address, socket.remotePort ?? 0)}`;
    socket.on("error", () => {
      // Errors are reported when the handshake fails.
    });
    if (this.#acceptor.waitingCount >= this.#config.handshakeCountMax) {
      this.#refusals.note(
        "tls-limit",
        peer,
        `${this.#acceptor.waitingCount} TLS handshakes are in progress, the limit of netty.server.outstandingHandshake.limit`,
      );
      socket.destroy();
      return;
    }
    this.#acceptor.accept(
      socket,
      (secured) => this.#judge(secured, address, peer),
      (error, certificateFault) => {
        // A connection that ends before it identified itself, such as a port probe, is not
        // reported.
        const hasEnded = "code" in error && error.code === "ECONNRESET";
        if (!hasEnded || certificateFault !== undefined)
          this.#refusals.note("tls", peer, `its TLS handshake failed: ${handshakeReason(error, certificateFault)}`);
      },
    );
  }

  /** Accepts a connection of a port with and without TLS: the first byte decides. */
  acceptEither(socket: Socket, address: string): void {
    const ignore = (): void => {
      // It ended before its first byte.
    };
    const timer = setTimeout(() => {
      this.#refusals.note(
        "handshake",
        `/${hostPort(address, socket.remotePort ?? 0)}`,
        "it did not say a byte in time",
      );
      socket.destroy();
    }, this.#config.handshakeTimeoutMs);
    this.#silent.add(socket);
    socket.on("error", ignore);
    socket.once("close", () => {
      clearTimeout(timer);
      this.#silent.delete(socket);
    });
    socket.once("readable", () => {
      const first: Buffer | null = socket.read();
      if (first === null) {
        socket.destroy();
        return;
      }
      clearTimeout(timer);
      this.#silent.delete(socket);
      socket.off("error", ignore);
      socket.unshift(first);
      if (first[0] === TLS_HANDSHAKE) this.accept(socket, address);
      else this.#take(socket, address);
    });
  }

  /** Settings for new connections. */
  setContext(context: TlsConfig["context"]): void {
    this.#acceptor.setSecureContext(context);
  }

  /** Closes the connections that are not identified yet. */
  stop(): void {
    for (const socket of this.#silent) socket.destroy();
    this.#acceptor.stop();
  }

  #judge(socket: TLSSocket, address: string, peer: string): void {
    const certificate = this.#config.clientAuth === "none" ? undefined : socket.getPeerX509Certificate();
    if (certificate !== undefined && !socket.authorized) {
      // With `want`, a client without a certificate is accepted, one with an invalid one is not.
      this.#refuse(socket, peer, certificateReason(String(socket.authorizationError)));
      return;
    }
    const isElsewhere = certificate !== undefined && certificate.checkIP(address) === undefined;
    if (this.#config.clientHostnameVerification && isElsewhere) {
      this.#refuse(socket, peer, "its certificate does not name the address that the client comes from");
      return;
    }
    try {
      this.#take(socket, address, certificate === undefined ? undefined : subjectName(certificate.raw));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#refuse(socket, peer, `its certificate is not accepted: ${error.message}`);
    }
  }

  #refuse(socket: Socket, peer: string, reason: string): void {
    this.#refusals.note("tls", peer, reason);
    socket.on("error", () => {
      // It goes either way.
    });
    socket.destroy();
  }
}
