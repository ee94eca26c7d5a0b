import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  accessFault,
  ConfigError,
  type EnsembleOptions,
  type EnsembleServerOptions,
  type PeerStoreOptions,
  type ServerOptions,
  StoreError,
} from "@zooid/embedded-server";
import type { ServerLine } from "@zooid/model";
import { chooseClientAddress, type FileAddress, type GivenAddress } from "./client-address.ts";

/**
 * Everything in a configuration that is about the other servers. Whether there are any shows only
 * when all of it has been read.
 */
export interface EnsembleSettings {
  /** `server.N`, by the key as written. */
  readonly servers: ReadonlyMap<string, ServerLine>;
  /** `group.N`: the servers of each group. */
  readonly groups: ReadonlyMap<number, readonly number[]>;
  /** `weight.N` */
  readonly weights: ReadonlyMap<number, number>;
  readonly limits: EnsembleLimits;
  /** `standaloneEnabled` */
  readonly isStandaloneEnabled: boolean | undefined;
  /** Keys that mean something only in an ensemble, each with where it stands. */
  readonly keys: readonly string[];
  /** Settings without which there is no ensemble. */
  readonly problems: readonly string[];
}

export type EnsembleLimits = Partial<Omit<EnsembleOptions, "sid" | "servers" | "addressOf" | "peerStores">> & PeerTls;

/**
 * TLS between servers as far as the stores of `ssl.quorum.*`, which it has in common with the admin
 * port, do not say it.
 */
interface PeerTls {
  readonly sslQuorum?: boolean;
  readonly reloadPeerStores?: boolean;
  readonly hostnameVerification?: boolean;
  readonly clientHostnameVerification?: boolean;
}

export const NO_ENSEMBLE: EnsembleSettings = {
  servers: new Map(),
  groups: new Map(),
  weights: new Map(),
  limits: {},
  isStandaloneEnabled: undefined,
  keys: [],
  problems: [],
};

/** Later settings win over earlier ones, key by key. */
export function mergeEnsembles(earlier: EnsembleSettings, later: EnsembleSettings): EnsembleSettings {
  return {
    servers: new Map([...earlier.servers, ...later.servers]),
    groups: new Map([...earlier.groups, ...later.groups]),
    weights: new Map([...earlier.weights, ...later.weights]),
    limits: { ...earlier.limits, ...later.limits, ...tlsOf(earlier.limits, later.limits) },
    isStandaloneEnabled: later.isStandaloneEnabled ?? earlier.isStandaloneEnabled,
    keys: [...earlier.keys, ...later.keys],
    problems: [...earlier.problems, ...later.problems],
  };
}

function tlsOf(earlier: EnsembleLimits, later: EnsembleLimits): Pick<EnsembleLimits, "peerTls"> {
  if (earlier.peerTls === undefined && later.peerTls === undefined) return {};
  return { peerTls: { ...earlier.peerTls, ...later.peerTls } };
}

/** The completed settings, and the warnings for operators. */
export interface Completed {
  readonly options: Pick<ServerOptions, "ensemble" | "port" | "address" | "standaloneEnabled">;
  readonly warnings: readonly string[];
  /** About lines that say different things of where clients come. */
  readonly addressWarnings: readonly string[];
}

/**
 * Decides whether this server is one of an ensemble, and which one. As with ZooKeeper, one line
 * `server.N` is no ensemble unless `standaloneEnabled=false` says so.
 *
 * @param file what the configuration file itself says: its `clientPort` and `clientPortAddress`,
 *   and whether another file lists the servers
 * @throws ConfigError with everything that is wrong
 */
export function completeEnsemble(
  settings: EnsembleSettings,
  {
    dataDir,
    logDir,
    port,
    address,
    admin,
    reconfigEnabled = false,
  }: Pick<ServerOptions, "dataDir" | "logDir" | "port" | "address" | "admin" | "reconfigEnabled">,
  file: FileAddress,
): Completed {
  const lines = [...settings.servers].map(([key, line]) => ({ sid: Number(key.slice("server.".length)), line }));
  const voterCount = lines.filter(({ line }) => !line.isObserver).length;
  const allowsAlone = settings.isStandaloneEnabled ?? true;
  if (lines.length <= 1 && allowsAlone) return alone(settings, lines[0], { dataDir, logDir, port, address }, file);
  const problems = [...settings.problems];
  if (lines.length === 0) problems.push("standaloneEnabled=false asks for an ensemble, and there is no line server.N");
  if (voterCount === 1 && lines.length > 1 && allowsAlone) {
    problems.push("one server with a vote and observers are an ensemble only with standaloneEnabled=false");
  }
  const servers = withGroups(settings, lines, problems);
  const sid = readMyid(dataDir, problems);
  const ownLine = lines.find((one) => one.sid === sid)?.line;
  if (sid !== undefined && ownLine !== undefined) problems.push(...samePorts({ sid, line: ownLine }, port));
  const own = ownLine?.clientAddress;
  const listed = sid === undefined || own === undefined ? undefined : { sid, ...own };
  const choice = chooseClientAddress(listed, { dataDir, logDir, port, address, reconfigEnabled }, file);
  problems.push(...choice.problems);
  if (problems.length > 0 || sid === undefined) throw new ConfigError(problems);
  const { isObserver } = settings.limits;
  // The ensemble may have given or taken the vote since peerType was written, and images set it
  // beside any line.
  const isOtherType = ownLine !== undefined && (isObserver ?? ownLine.isObserver) !== ownLine.isObserver;
  const limits = isOtherType ? { ...settings.limits, isObserver: ownLine.isObserver } : settings.limits;
  const warnings = [
    ...lines.flatMap(severalAddresses),
    ...voterWarnings(voterCount),
    ...(isOtherType ? [`peerType is not used: the line server.${sid} says ${roleName(ownLine.isObserver)}`] : []),
  ];
  return {
    options: {
      standaloneEnabled: allowsAlone,
      ensemble: { ...withStores(limits, admin?.tls), sid, servers },
      ...choice.options,
    },
    warnings,
    addressWarnings: choice.warnings,
  };
}

/** The settings with the stores that `sslQuorum` and its like ask for. */
function withStores(
  { sslQuorum, reloadPeerStores, hostnameVerification, clientHostnameVerification, ...limits }: EnsembleLimits,
  stores: PeerStoreOptions = {},
): Omit<EnsembleOptions, "sid" | "servers"> {
  const { peerTls, portUnification } = limits;
  // With PEM files TLS is dialed unless sslQuorum=false says that the others do not take it yet.
  if (peerTls !== undefined && portUnification === true) return { ...limits, dialsTls: sslQuorum !== false };
  if (sslQuorum !== true && (portUnification !== true || peerTls !== undefined)) return limits;
  return {
    ...limits,
    ...(portUnification === true ? { dialsTls: sslQuorum === true } : {}),
    peerStores: {
      ...stores,
      ...(reloadPeerStores === undefined ? {} : { certReload: reloadPeerStores }),
      ...(hostnameVerification === undefined ? {} : { hostnameVerification }),
      ...(clientHostnameVerification === undefined ? {} : { clientHostnameVerification }),
    },
  };
}

function alone(
  settings: EnsembleSettings,
  only: { readonly sid: number; readonly line: ServerLine } | undefined,
  given: Omit<GivenAddress, "reconfigEnabled">,
  file: FileAddress,
): Completed {
  const problems: string[] = only === undefined ? [] : [...samePorts(only, undefined)];
  if (settings.limits.clients === "closed")
    problems.push(
      "zooid.clients=closed is kept in the configuration of an ensemble, and a server alone has none: list the servers (server.N), for one of them with standaloneEnabled=false",
    );
  if (settings.limits.isObserver === true)
    problems.push("peerType=observer asks for others to observe, and there are none (server.N)");
  if (only?.line.isObserver === true)
    problems.push(`server.${only.sid} is an observer, and there is no voter to observe`);
  for (const group of settings.groups.keys())
    problems.push(`group.${group} belongs to an ensemble, and there is none (server.N)`);
  for (const sid of settings.weights.keys())
    problems.push(`weight.${sid} belongs to an ensemble, and there is none (server.N)`);
  // Beside a clientPort the line is this server's only if its file myid says so.
  const isOwn = given.port === undefined || readMyid(given.dataDir, []) === only?.sid;
  const own = only?.line.clientAddress;
  const listed = only === undefined || own === undefined || !isOwn ? undefined : { sid: only.sid, ...own };
  const choice = chooseClientAddress(listed, { ...given, reconfigEnabled: false }, file);
  problems.push(...choice.problems);
  if (problems.length > 0) throw new ConfigError(problems);
  const warnings = settings.keys.map((key) => `${key} has no effect: a single server has no peers`);
  if (only === undefined) return { options: {}, warnings, addressWarnings: [] };
  if (settings.isStandaloneEnabled === undefined)
    warnings.push(
      `only one server is listed (server.${only.sid}), so this one serves alone; standaloneEnabled=false makes it an ensemble of one`,
    );
  warnings.push(...severalAddresses(only));
  return { options: choice.options, warnings, addressWarnings: choice.warnings };
}

/** Clients and peers cannot come to one port of one address. */
function samePorts(
  { sid, line }: { readonly sid: number; readonly line: ServerLine },
  clientPort: number | undefined,
): readonly string[] {
  const { quorumPort, electionPort, clientAddress } = line;
  const problems: string[] = [];
  if (quorumPort === electionPort) problems.push(`server.${sid} has port ${quorumPort} twice, for data and elections`);
  const named = [
    ["clientPort", clientPort],
    [`the client port of server.${sid}`, clientAddress?.port],
  ] as const;
  for (const [name, port] of named) {
    if (port === undefined || (port !== quorumPort && port !== electionPort)) continue;
    problems.push(
      `${name} is ${port}, which server.${sid} has for ${port === quorumPort ? "data" : "elections"} of its peers`,
    );
  }
  return problems;
}

function roleName(isObserver: boolean): string {
  return isObserver ? "observer" : "participant";
}

function severalAddresses({ sid, line }: { readonly sid: number; readonly line: ServerLine }): readonly string[] {
  if (line.otherAddressCount === 0) return [];
  return [`server.${sid} has ${line.otherAddressCount + 1} addresses; only the first (${line.host}) is used`];
}

function voterWarnings(count: number): readonly string[] {
  if (count === 2) return ["two servers with a vote cannot do without either: for that it takes three"];
  if (count % 2 === 0 && count > 0)
    return [`${count} servers with a vote can do without ${count / 2 - 1}, and so can ${count - 1}`];
  return [];
}

function withGroups(
  { groups, weights }: EnsembleSettings,
  lines: readonly { readonly sid: number; readonly line: ServerLine }[],
  problems: string[],
): readonly EnsembleServerOptions[] {
  const listed = new Set(lines.map(({ sid }) => sid));
  const groupOf = new Map<number, number>();
  for (const [group, members] of groups) {
    for (const sid of members) {
      const other = groupOf.get(sid);
      if (!listed.has(sid)) problems.push(`group.${group} names server ${sid}, and there is no line server.${sid}`);
      if (other !== undefined)
        problems.push(`server ${sid} is in group.${other} and in group.${group}; groups do not overlap`);
      groupOf.set(sid, group);
    }
  }
  for (const sid of weights.keys()) {
    if (!listed.has(sid))
      problems.push(`weight.${sid} is for a server that is not listed: there is no line server.${sid}`);
  }
  return lines.map(({ sid, line }) => {
    const group = groupOf.get(sid);
    const weight = weights.get(sid);
    const { host, quorumPort, electionPort, isObserver, clientAddress } = line;
    return {
      sid,
      host,
      quorumPort,
      electionPort,
      isObserver,
      ...(clientAddress === undefined ? {} : { clientAddress }),
      ...(group === undefined ? {} : { group }),
      ...(weight === undefined ? {} : { weight }),
    };
  });
}

/** Which server this is, from the file that lies with its data. */
function readMyid(dataDir: string | undefined, problems: string[]): number | undefined {
  if (dataDir === undefined) {
    problems.push("a server of an ensemble needs dataDir, where its file myid lies");
    return undefined;
  }
  const file = join(dataDir, "myid");
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const denied = accessFault(file, "read");
    if (denied !== undefined) throw new StoreError({ code: "UNREADABLE", file, reason: denied });
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    const reason = isMissing
      ? "is missing"
      : `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    problems.push(`${file} ${reason}; it holds this server's number, the N of its line server.N`);
    return undefined;
  }
  const [line = ""] = text.split(/\r?\n/);
  const sid = Number(line.trim());
  if (!/^\d+$/.test(line.trim()) || sid > 254) {
    const reserved =
      line.trim() === "255" ? "; session ids of a server 255 would begin as the marks of TTL nodes do" : "";
    problems.push(`${file} holds this server's number, 0 to 254, found "${line.trim().slice(0, 40)}"${reserved}`);
    return undefined;
  }
  return sid;
}
