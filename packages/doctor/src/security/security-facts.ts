/** The facts of the files and ports that keep strangers out. */
export interface SecurityFacts {
  readonly secrets: readonly SecretFile[];
  readonly certificates: readonly CertificateFacts[];
  readonly peers: PeerSecurity | undefined;
  readonly admin: AdminSecurity | undefined;
}

/** A file with a key or a password. */
export interface SecretFile {
  readonly path: string;
  /** The setting that names it. */
  readonly key: string;
  /** Permission bits. */
  readonly mode: number;
}

export interface CertificateFacts {
  readonly path: string;
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly notAfterMs: number;
}

export interface PeerSecurity {
  /** Whether links are encrypted and both sides prove who they are, or prove a shared secret. */
  readonly isAuthenticated: boolean;
  /** A host of another machine in the list; undefined where all servers are on this one. */
  readonly distantHost: string | undefined;
}

export interface AdminSecurity {
  readonly port: number;
  /** Addresses of this machine at which hosts of the internet may reach it. */
  readonly publicAddresses: readonly string[];
  /** Whether its clients must have a certificate. */
  readonly needsCertificate: boolean;
}
