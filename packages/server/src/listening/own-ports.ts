import { isIP } from "node:net";
import { hostPort, javaAddress } from "@zooid/model";
import type { QuorumPeerConfig } from "../peers/ensemble-config.ts";

/** An address and a port at which a server listens. */
export interface Listening {
  readonly address: string;
  readonly port: number;
}

/** The ports of a server's configuration. */
export interface PortSettings extends Listening {
  readonly plainPort: boolean;
  readonly secureAddress: string;
  readonly securePort: number | undefined;
  readonly admin: Listening | undefined;
  readonly metrics: Listening | undefined;
  readonly ensemble: Pick<QuorumPeerConfig, "sid" | "servers" | "listenOnAllAddresses"> | undefined;
}

/** A port that this server opens. */
export interface OwnPort {
  /** The setting that names it, for sentences: `clientPort`, `the quorum port of server.1`. */
  readonly setting: string;
  /** Its key in zoo.cfg: `clientPort`, `server.1`. */
  readonly key: string;
  /** Whether the server starts without it where it cannot be bound. */
  readonly isOptional: boolean;
  /** `*` for every address. */
  readonly host: string;
  readonly port: number;
}

/**
 * Two ports of this server that have one number on one address: a sentence for each pair. Ports
 * that the system chooses collide with none.
 *
 * @param hasAdminNumber whether the admin port has a number of the operator's: another one gives
 *   way at the start, as to another process
 */
export function collidingPorts(config: PortSettings, hasAdminNumber: boolean): readonly string[] {
  const ports = ownPorts(config, hasAdminNumber).filter(({ port }) => port !== 0);
  return ports.flatMap((one, i) =>
    ports
      .slice(i + 1)
      .filter((other) => one.port === other.port && isSameHost(one.host, other.host))
      .map(
        (other) =>
          `${one.setting} and ${other.setting} are both ${one.host === "*" ? one.port : hostPort(one.host, one.port)}: each port of a server has a number of its own`,
      ),
  );
}

/**
 * The ports that a server with this configuration binds; number 0 is one that the system chooses.
 *
 * @param hasAdminNumber see `collidingPorts`; default: the admin port is one of them
 */
export function ownPorts(config: PortSettings, hasAdminNumber = true): readonly OwnPort[] {
  const { admin, metrics, ensemble, securePort } = config;
  const own = ensemble?.servers.find(({ sid }) => sid === ensemble.sid);
  const peerHost = ensemble?.listenOnAllAddresses === true ? "*" : (own?.host ?? "*");
  return [
    ...(config.plainPort ? [portOf("clientPort", config.address, config.port)] : []),
    ...(securePort === undefined ? [] : [portOf("secureClientPort", config.secureAddress, securePort)]),
    ...(admin === undefined || !hasAdminNumber
      ? []
      : [optional(portOf("admin.serverPort", admin.address, admin.port))]),
    ...(metrics === undefined ? [] : [optional(portOf("metricsProvider.httpPort", metrics.address, metrics.port))]),
    ...(own === undefined
      ? []
      : [
          { ...portOf(`server.${own.sid}`, peerHost, own.quorumPort), setting: `the quorum port of server.${own.sid}` },
          {
            ...portOf(`server.${own.sid}`, peerHost, own.electionPort),
            setting: `the election port of server.${own.sid}`,
          },
          optional(portOf("observerMasterPort", peerHost, own.observerMasterPort ?? 0)),
        ]),
  ];
}

function portOf(key: string, host: string, port: number): OwnPort {
  return { setting: key, key, host, port, isOptional: false };
}

function optional(port: OwnPort): OwnPort {
  return { ...port, isOptional: true };
}

/** A name may have any address: only equal ones are known to be the same. */
function isSameHost(a: string, b: string): boolean {
  if (ANY.has(a) || ANY.has(b)) return true;
  const [left, right] = [a, b].map((host) => (isIP(host) === 0 ? host.toLowerCase() : javaAddress(host)));
  return left === right;
}

const ANY: ReadonlySet<string> = new Set(["*", "0.0.0.0", "::"]);
