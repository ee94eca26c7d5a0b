import { isIP } from "node:net";
import { hostPort, javaAddress } from "@zooid/model";
import type { QuorumPeerConfig } from "../peers/ensemble-config.ts";

interface Listening {
  readonly address: string;
  readonly port: number;
}

/** What a server's configuration says of its ports. */
export interface PortSettings extends Listening {
  readonly plainPort: boolean;
  readonly secureAddress: string;
  readonly securePort: number | undefined;
  readonly admin: Listening | undefined;
  readonly metrics: Listening | undefined;
  readonly ensemble: Pick<QuorumPeerConfig, "sid" | "servers" | "listenOnAllAddresses"> | undefined;
}

/** A port that this server opens. */
interface OwnPort {
  /** The setting that names it. */
  readonly setting: string;
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

function ownPorts(config: PortSettings, hasAdminNumber: boolean): readonly OwnPort[] {
  const { admin, metrics, ensemble, securePort } = config;
  const own = ensemble?.servers.find(({ sid }) => sid === ensemble.sid);
  const peerHost = ensemble?.listenOnAllAddresses === true ? "*" : (own?.host ?? "*");
  return [
    ...(config.plainPort ? [{ setting: "clientPort", host: config.address, port: config.port }] : []),
    ...(securePort === undefined
      ? []
      : [{ setting: "secureClientPort", host: config.secureAddress, port: securePort }]),
    ...(admin === undefined || !hasAdminNumber
      ? []
      : [{ setting: "admin.serverPort", host: admin.address, port: admin.port }]),
    ...(metrics === undefined
      ? []
      : [{ setting: "metricsProvider.httpPort", host: metrics.address, port: metrics.port }]),
    ...(own === undefined
      ? []
      : [
          { setting: `the quorum port of server.${own.sid}`, host: peerHost, port: own.quorumPort },
          { setting: `the election port of server.${own.sid}`, host: peerHost, port: own.electionPort },
          { setting: "observerMasterPort", host: peerHost, port: own.observerMasterPort ?? 0 },
        ]),
  ];
}

/** A name may have any address: only equal ones are known to be the same. */
function isSameHost(a: string, b: string): boolean {
  if (ANY.has(a) || ANY.has(b)) return true;
  const [left, right] = [a, b].map((host) => (isIP(host) === 0 ? host.toLowerCase() : javaAddress(host)));
  return left === right;
}

const ANY: ReadonlySet<string> = new Set(["*", "0.0.0.0", "::"]);
