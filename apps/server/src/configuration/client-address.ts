import { isIP } from "node:net";
import { hasConfiguration, type ServerOptions } from "@zooid/embedded-server";
import { javaAddress } from "@zooid/model";
import { isAnyHost } from "./key-values.ts";

/** Where this server's line `server.N` says that clients come. */
export interface ListedAddress {
  readonly sid: number;
  readonly host?: string | undefined;
  readonly port: number;
}

/**
 * clientPort and clientPortAddress as the command line and the file give them, and the other
 * settings that decide.
 */
export interface GivenAddress {
  readonly dataDir: string | undefined;
  readonly logDir: string | undefined;
  readonly port: number | undefined;
  readonly address: string | undefined;
  readonly reconfigEnabled: boolean;
}

/** The settings of the configuration file alone. */
export interface FileAddress {
  readonly port?: number | undefined;
  readonly address?: string | undefined;
  /** Whether another file lists the servers. */
  readonly hasDynamicFile: boolean;
}

export interface ClientAddressChoice {
  readonly options: Pick<ServerOptions, "port" | "address">;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Where clients come, where this server's line and `clientPort` may say different things:
 *
 * | the line is of | clientPort is of | then |
 * | --- | --- | --- |
 * | the same file, and the data has no configuration yet | that file | a problem: clients would be sent where this server does not listen |
 * | a dynamic file, or the data has a configuration | the file | the line is used, with a warning |
 * | any, and `reconfigEnabled` | the command line | the line is used, with a warning |
 * | any | the command line | the command line is used, with a warning |
 *
 * @param listed undefined where the line names no place for clients, or is not this server's
 */
export function chooseClientAddress(
  listed: ListedAddress | undefined,
  given: GivenAddress,
  file: FileAddress,
): ClientAddressChoice {
  if (listed === undefined) return { options: {}, problems: [], warnings: [] };
  const { sid } = listed;
  const isOfFile = given.port === undefined || given.port === file.port;
  const wins = given.reconfigEnabled || isOfFile;
  const isOtherPort = given.port !== undefined && given.port !== listed.port;
  const isAddressOfFile = given.address === file.address;
  const isOtherHost = !isOtherPort && isAddressOfFile && isOtherAddress(listed.host, given.address);
  const isDecidedHere = isOfFile && (isOtherPort || isOtherHost) && !file.hasDynamicFile && !hasConfiguration(given);
  const problems: string[] = [];
  if (isOtherPort && isDecidedHere)
    problems.push(
      `clientPort is ${given.port}, and the line server.${sid} says that clients come to port ${listed.port}: write one of them, or both alike`,
    );
  if (isOtherHost && isDecidedHere)
    problems.push(
      `clientPortAddress is ${given.address}, and the line server.${sid} says that clients come to ${listed.host}: write one of them, or both alike`,
    );
  const used = wins ? "is not used" : "is used";
  const warnings = [
    ...(isOtherPort
      ? [`clientPort says ${given.port} and ${used}: server.${sid} says that clients come to port ${listed.port}`]
      : []),
    ...(isOtherHost
      ? [
          `clientPortAddress says ${given.address} and is not used: server.${sid} says that clients come to ${listed.host}`,
        ]
      : []),
  ];
  return { options: wins ? listedOptions(listed, given, isAddressOfFile) : {}, problems, warnings };
}

/** The line wins. Without an address in it, or with every one, that of clientPortAddress holds. */
function listedOptions(
  { port, host }: ListedAddress,
  { address, reconfigEnabled }: GivenAddress,
  isAddressOfFile: boolean,
): Pick<ServerOptions, "port" | "address"> {
  if (host === undefined || isAnyHost(host)) return { port };
  const isOther = isAddressOfFile && isOtherAddress(host, address);
  const isKept = address !== undefined && !reconfigEnabled && !isOther;
  return { port, ...(isKept ? {} : { address: host }) };
}

/**
 * Whether two addresses for clients are different ones. A name may stand for any address, so that
 * names never differ here.
 */
function isOtherAddress(listed: string | undefined, said: string | undefined): boolean {
  if (listed === undefined || said === undefined || isIP(listed) === 0 || isIP(said) === 0) return false;
  return !isAnyHost(listed) && !isAnyHost(said) && javaAddress(listed) !== javaAddress(said);
}
