import {
  type ClientAccess,
  hostPort,
  membersOf,
  type QuorumVerifier,
  type ServerId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { type EnsembleServer, MemberDirectory, type PeerAddress } from "./member-directory.ts";
import type { PeerSecret, PeerSecretMode } from "./peer-secret.ts";
import { checkTrust, PeerSecurity, type PeerSecurityOptions, parseProtection } from "./peer-security.ts";
import type { PeerTransport } from "./peer-transport.ts";

/** One server of an ensemble, as `server.N` configures it. */
export interface EnsembleServerOptions {
  /** 0 to 254. */
  readonly sid: number;
  /** Name or address; names are resolved at each dial. */
  readonly host: string;
  /**
   * Port for learners while it leads; 0 lets the system choose, which only makes sense with
   * `addressOf`.
   */
  readonly quorumPort: number;
  /** Port for elections; 0 as above. */
  readonly electionPort: number;
  /** Whether it follows without a vote. Default false. */
  readonly isObserver?: boolean;
  /** Its client address, if known. */
  readonly clientAddress?: { readonly host?: string; readonly port: number };
  /** Its voter group: either all voters have one, or none. */
  readonly group?: number;
  /** The weight of its vote in its group. Default 1. */
  readonly weight?: number;
}

export type UnlistedServers = "follow" | "refuse";

export interface EnsembleOptions extends PeerSecurityOptions {
  /** The id of this server. */
  readonly sid: number;
  readonly servers: readonly EnsembleServerOptions[];
  /** The version of this configuration, where a dynamic file names it. Default 0. */
  readonly version?: Zxid;
  /** The file that names that version, for log lines. */
  readonly versionFile?: string;
  /** Ticks that a learner has to connect to its leader and synchronize. Default 10. */
  readonly initLimit?: number;
  /** Silent ticks after which leader and learner disconnect. Default 5. */
  readonly syncLimit?: number;
  /** 3: fast leader election; 0: the basic one. Default 3. */
  readonly electionAlg?: number;
  /** `peerType`: must agree with this server's entry. Default: from the entry. */
  readonly isObserver?: boolean;
  /** Timeout of one attempt to connect, in milliseconds. Default 5000. */
  readonly connectTimeoutMs?: number;
  /**
   * Time that a server without data waits for each other voter that it cannot reach, before it
   * takes part in founding an ensemble without it, in milliseconds. Longer keeps an empty ensemble
   * from being founded beside data whose server is unreachable for longer; shorter lets a new
   * ensemble start sooner while a voter is down. Default 5000.
   */
  readonly foundingWaitMs?: number;
  /**
   * Whether a server that neither the list in force nor this server's files have may follow,
   * without a vote: it gets all data. Default `follow`.
   */
  readonly unlisted?: UnlistedServers;
  /**
   * Whether the ensemble serves clients once it is founded. Afterwards its configuration says that,
   * which an operator opens. Default `open`.
   */
  readonly clients?: Exclude<ClientAccess, "closed-again">;
  /** Listen for peers on every address instead of this server's own. Default false. */
  readonly listenOnAllAddresses?: boolean;
  /**
   * Number of retries to bind a taken peer port, a second apart; 0 retries indefinitely. Default 3.
   */
  readonly bindRetryCount?: number;
  /**
   * Port for observers at a follower, and at an observer the port of its followers: one port for
   * all. 0 lets the system choose, as above. Default: observers connect to the leader.
   */
  readonly observerMasterPort?: number;
  /**
   * The current address of a server; called at each dial. Default: from `servers`. For ports that
   * the system chose.
   */
  readonly addressOf?: (sid: ServerId) => PeerAddress;
}

/** {@link EnsembleOptions} validated, with every default filled in. */
export interface QuorumPeerConfig {
  readonly sid: ServerId;
  /** In the order of their ids, including this server, as of now. */
  readonly servers: readonly EnsembleServer[];
  /** Where the servers are. */
  readonly directory: MemberDirectory;
  /** The version of the configuration in the options; 0 unless a dynamic file names one. */
  readonly version: Zxid;
  readonly versionFile: string | undefined;
  readonly initLimit: number;
  readonly syncLimit: number;
  readonly electionAlg: 0 | 3;
  readonly isObserver: boolean;
  readonly connectTimeoutMs: number;
  readonly foundingWaitMs: number;
  readonly unlisted: UnlistedServers;
  /** In the configuration that this server would found its ensemble with. */
  readonly clients: Exclude<ClientAccess, "closed-again">;
  readonly listenOnAllAddresses: boolean;
  readonly bindRetryCount: number;
  /** Replaced by a reload; the next three are those of now. */
  readonly security: PeerSecurity;
  /** Empty without a file of secrets. */
  readonly secrets: readonly PeerSecret[];
  readonly secretMode: PeerSecretMode;
  /** TLS, if there are files for it. */
  readonly transport: PeerTransport;
  readonly observerMasterPort: number | undefined;
}

type WholeNumber = (name: string, value: number, min: number, max: number) => number;

const TICKS_MAX = 1_000_000;
const WEIGHT_MAX = 1_000_000;
const FOUNDING_WAIT_MS_MAX = 3_600_000;

/**
 * Validates options and fills in defaults; errors are added to the problems, and the result is then
 * unusable.
 */
export function parseEnsemble(
  options: EnsembleOptions,
  whole: WholeNumber,
  problems: string[],
  notices: string[],
): QuorumPeerConfig {
  const sid = whole("myid", options.sid, 0, 254) as ServerId;
  const observerMasterPort =
    options.observerMasterPort === undefined
      ? undefined
      : whole("observerMasterPort", options.observerMasterPort, 0, 65_535);
  // An invalid id is one problem: its placeholder is not validated further.
  const servers = options.servers
    .map((server) => ({ ...parseServer(server, whole), observerMasterPort }))
    .filter((server, index) => server.sid === options.servers[index]?.sid)
    .sort((a, b) => a.sid - b.sid);
  checkServers(servers, problems);
  checkGroups(servers, problems);
  const own = servers.find((server) => server.sid === options.sid);
  if (own === undefined && sid === options.sid) {
    const listed = servers.map((server) => server.sid).join(", ") || "none";
    problems.push(`myid is ${sid}, and there is no line server.${sid}; listed: ${listed}`);
  } else if (own !== undefined && options.isObserver !== undefined && options.isObserver !== own.isObserver) {
    problems.push(
      `peerType says ${roleName(options.isObserver)}, the line server.${sid} says ${roleName(own.isObserver)}; they must agree`,
    );
  }
  if (own !== undefined && observerMasterPort !== undefined && observerMasterPort > 0) {
    const taken = new Map([
      [own.quorumPort, "quorum"],
      [own.electionPort, "election"],
    ]).get(observerMasterPort);
    if (taken !== undefined) {
      problems.push(
        `observerMasterPort ${observerMasterPort} is the ${taken} port of server.${sid}; it takes one of its own`,
      );
    }
  }
  const electionAlg = options.electionAlg ?? 3;
  if (electionAlg !== 3 && electionAlg !== 0) {
    problems.push(`electionAlg is 3 (the default) or 0, found ${electionAlg}`);
  }
  const directory = new MemberDirectory({ sid, servers, observerMasterPort, addressOf: options.addressOf });
  const security = new PeerSecurity(parseProtection(options, { sid, directory }, problems, notices));
  const config: QuorumPeerConfig = {
    sid,
    get servers() {
      return directory.servers;
    },
    directory,
    version: options.version ?? ZXID_NONE,
    versionFile: options.versionFile,
    initLimit: whole("initLimit", options.initLimit ?? 10, 1, TICKS_MAX),
    syncLimit: whole("syncLimit", options.syncLimit ?? 5, 1, TICKS_MAX),
    electionAlg: electionAlg === 0 ? 0 : 3,
    isObserver: own?.isObserver ?? false,
    connectTimeoutMs: whole("cnxTimeout", options.connectTimeoutMs ?? 5000, 1, 2 ** 31 - 1),
    foundingWaitMs: whole("zooid.foundingWaitMs", options.foundingWaitMs ?? 5000, 1, FOUNDING_WAIT_MS_MAX),
    unlisted: options.unlisted ?? "follow",
    clients: options.clients ?? "open",
    listenOnAllAddresses: options.listenOnAllAddresses ?? false,
    bindRetryCount: whole("electionPortBindRetry", options.bindRetryCount ?? 3, 0, 1_000_000),
    observerMasterPort,
    security,
    get secrets() {
      return security.current.secrets;
    },
    get secretMode() {
      return security.current.secretMode;
    },
    get transport() {
      return security.current.transport;
    },
  };
  checkTrust(security.current, config, problems, notices);
  return Object.freeze(config);
}

/** The voters, their groups and their weights. */
export function quorumOf(ensemble: Pick<QuorumPeerConfig, "servers">): QuorumVerifier {
  return membersOf(ensemble.servers, ZXID_NONE).verifier;
}

function parseServer(options: EnsembleServerOptions, whole: WholeNumber): Omit<EnsembleServer, "observerMasterPort"> {
  const line = `server.${options.sid}`;
  const { clientAddress } = options;
  return {
    sid: whole(`${line}: the id`, options.sid, 0, 254) as ServerId,
    host: options.host,
    quorumPort: whole(`${line}: the quorum port`, options.quorumPort, 0, 65_535),
    electionPort: whole(`${line}: the election port`, options.electionPort, 0, 65_535),
    isObserver: options.isObserver ?? false,
    clientAddress:
      clientAddress === undefined
        ? undefined
        : { host: clientAddress.host, port: whole(`${line}: the client port`, clientAddress.port, 0, 65_535) },
    group: options.group,
    weight: whole(`weight.${options.sid}`, options.weight ?? 1, 0, WEIGHT_MAX),
  };
}

function checkServers(servers: readonly EnsembleServer[], problems: string[]): void {
  const sids = new Set<ServerId>();
  const places = new Map<string, string>();
  for (const { sid, host, quorumPort, electionPort } of servers) {
    if (sids.has(sid)) problems.push(`server.${sid} is listed twice`);
    sids.add(sid);
    if (host === "") problems.push(`server.${sid} names no host`);
    for (const [what, port] of [
      ["quorum port", quorumPort],
      ["election port", electionPort],
    ] as const) {
      if (port === 0) continue;
      const place = `${host.toLowerCase()}:${port}`;
      const holder = places.get(place);
      if (holder === undefined) places.set(place, `the ${what} of server.${sid}`);
      else problems.push(`${hostPort(host, port)} is the ${what} of server.${sid} and ${holder}`);
    }
  }
  if (!servers.some(({ isObserver }) => !isObserver)) {
    problems.push("no server of the ensemble has a vote: all server.N lines are observers");
  }
}

function checkGroups(servers: readonly EnsembleServer[], problems: string[]): void {
  const voters = servers.filter(({ isObserver }) => !isObserver);
  const hasGroups = servers.some(({ group }) => group !== undefined);
  if (!hasGroups) {
    const weighted = servers.filter(({ weight }) => weight !== 1).map(({ sid }) => `weight.${sid}`);
    if (weighted.length > 0) problems.push(`${weighted.join(", ")} count only inside groups, and there is no group.N`);
    return;
  }
  for (const { sid, group, isObserver } of servers) {
    if (!isObserver && group === undefined) problems.push(`server.${sid} has a vote but is in no group`);
    if (isObserver && group !== undefined) problems.push(`server.${sid} is an observer and belongs in no group`);
  }
  if (voters.length > 0 && voters.every(({ weight }) => weight === 0)) {
    problems.push("every vote has the weight 0, so that none counts");
  }
}

function roleName(isObserver: boolean): string {
  return isObserver ? "observer" : "participant";
}
