/** A port that the server binds at its start, as this machine has it. */
export interface PortFacts {
  /** `clientPort`, `the quorum port of server.1`. */
  readonly setting: string;
  /** The file and the line that name it. */
  readonly subject: string;
  /** `*` for every address. */
  readonly host: string;
  readonly port: number;
  /** Whether the server starts without it. */
  readonly isOptional: boolean;
  /** Undefined: it can be bound, or this server holds it. */
  readonly fault: PortFault | undefined;
}

/**
 * `taken`: another program listens there. `privileged`: only the superuser may bind the number.
 * `elsewhere`: the address is none of this machine.
 */
export type PortFault =
  | { readonly kind: "taken"; readonly holder: PortHolder | undefined }
  | { readonly kind: "privileged" }
  | { readonly kind: "elsewhere" }
  | { readonly kind: "other"; readonly reason: string };

/** The process that listens; parts that the system does not show are undefined. */
export interface PortHolder {
  readonly pid: number | undefined;
  /** `nginx`. */
  readonly program: string | undefined;
  readonly uid: number | undefined;
}
