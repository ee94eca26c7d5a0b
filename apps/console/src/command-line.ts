import { parseArgs } from "node:util";
import { parseConnectString } from "@zooid/client";
import { adminUrlFault, withoutCredentials } from "@zooid/model";
import type { RoleOptions } from "@zooid/web-console";
import type { TlsFiles } from "./tls-files.ts";

export const USAGE = `zooid-console --server HOST:PORT[,HOST:PORT …] [options]

Serves a web console in front of a ZooKeeper ensemble, and prints its address.

  --server HOSTS      the servers, as a connect string; default 127.0.0.1:2181
  --server NAME=HOSTS one of several ensembles, which the page switches between; given once for each
  --port N            port of the console; default 8090; 0 lets the system choose
  --address A         address to listen on; * for every one; default 127.0.0.1
  --host-name NAME    beyond loopback: a name by which browsers reach the console; may be given more than once
  --name TEXT         the name of the one ensemble on the page
  --operator ID       may do everything; ID is digest:USER:HASH; may be given more than once
  --editor ID         may change nodes
  --viewer ID         may read
  --admin N=URL       the admin port of server N, as http://zk1:8080, for transfers of the leadership, drains and ended sessions;
                      0 for a server without an ensemble; may be given more than once; with several ensembles NAME/N=URL
  --timeout MS        session timeout; default 30000
  --tls               connects to the servers with TLS; so do the options that follow
  --tls-ca FILE       trusted authorities in PEM; default: those that Node.js trusts
  --tls-cert FILE     the console's own certificate in PEM, for servers that ask for one; it stands for all users
  --tls-key FILE      its key in PEM
  --tls-key-password-file FILE
                      a file with the key's password
  --tls-name NAME     the name of the servers' certificates; default: each server's host
  --version           print the version
  --help              print this

Beyond loopback the console only reads until a role is given; then users without one are refused. The hash of a user is printed by
  printf %s USER:PASSWORD | openssl dgst -sha1 -binary | base64`;

export type Command =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | {
      readonly kind: "serve";
      /** The first has its page at /console/. */
      readonly ensembles: readonly [EnsembleArguments, ...EnsembleArguments[]];
      readonly port: number;
      readonly address: string;
      readonly hostNames: readonly string[];
      readonly roles: RoleOptions;
      readonly sessionTimeoutMs: number;
      /** Undefined: without TLS. */
      readonly tls: TlsFiles | undefined;
    };

export interface EnsembleArguments {
  /** Undefined only for one ensemble. */
  readonly name: string | undefined;
  readonly hosts: string;
  /** By the servers' numbers. */
  readonly adminUrls: Readonly<Record<string, string>>;
}

/** Arguments that are wrong, one line for each. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

const OPTIONS = {
  server: { type: "string", multiple: true, default: ["127.0.0.1:2181"] as string[] },
  port: { type: "string", default: "8090" },
  address: { type: "string", default: "127.0.0.1" },
  "host-name": { type: "string", multiple: true, default: [] as string[] },
  name: { type: "string" },
  operator: { type: "string", multiple: true, default: [] as string[] },
  editor: { type: "string", multiple: true, default: [] as string[] },
  viewer: { type: "string", multiple: true, default: [] as string[] },
  admin: { type: "string", multiple: true, default: [] as string[] },
  timeout: { type: "string", default: "30000" },
  tls: { type: "boolean", default: false },
  "tls-ca": { type: "string" },
  "tls-cert": { type: "string" },
  "tls-key": { type: "string" },
  "tls-key-password-file": { type: "string" },
  "tls-name": { type: "string" },
  version: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** @throws UsageError with everything that is wrong */
export function parseCommandLine(argv: readonly string[]): Command {
  const { values } = parse(argv);
  if (values.help) return { kind: "help" };
  if (values.version) return { kind: "version" };
  const problems: string[] = [];
  const whole = (option: string, text: string, max: number): number => {
    if (/^\d{1,9}$/.test(text) && Number(text) <= max) return Number(text);
    problems.push(`${option} is a whole number up to ${max}, found "${text}"`);
    return 0;
  };
  for (const id of [...values.operator, ...values.editor, ...values.viewer]) {
    if (!/^(digest:[^:]+:[\w+/=]+|x509:.+)$/.test(id))
      problems.push(`a role is given to digest:USER:HASH or x509:SUBJECT, found "${id}"`);
  }
  const ensembles = ensemblesOf(values, problems);
  const tls: TlsFiles = {
    authorities: values["tls-ca"],
    certificate: values["tls-cert"],
    key: values["tls-key"],
    keyPassword: values["tls-key-password-file"],
    serverName: values["tls-name"],
  };
  if ((tls.certificate === undefined) !== (tls.key === undefined)) {
    problems.push("--tls-cert and --tls-key are given together, found one of them");
  }
  if (tls.keyPassword !== undefined && tls.key === undefined) {
    problems.push("--tls-key-password-file needs --tls-key");
  }
  const usesTls = values.tls || Object.values(tls).some((value) => value !== undefined);
  const command: Command = {
    kind: "serve",
    ensembles,
    port: whole("--port", values.port, 65_535),
    address: values.address,
    hostNames: values["host-name"].map((name) => name.toLowerCase()),
    roles: { operators: values.operator, editors: values.editor, viewers: values.viewer },
    sessionTimeoutMs: whole("--timeout", values.timeout, 600_000),
    tls: usesTls ? tls : undefined,
  };
  if (problems.length > 0) throw new UsageError(problems);
  return command;
}

/**
 * A host of a connect string is followed by its port, so a name before `=` is not taken for one.
 */
const NAMED = /^([A-Za-z0-9][\w.-]{0,63})=(.+)$/;

interface EnsembleValues {
  readonly server: readonly string[];
  readonly admin: readonly string[];
  readonly name?: string | undefined;
}

function ensemblesOf(
  { server, admin, name }: EnsembleValues,
  problems: string[],
): readonly [EnsembleArguments, ...EnsembleArguments[]] {
  const found = server.map((text) => {
    const [, named, hosts = text] = NAMED.exec(text) ?? [];
    problems.push(...hostsProblems(hosts));
    return { name: named ?? (server.length === 1 ? name : undefined), hosts, adminUrls: {} as Record<string, string> };
  });
  if (server.length > 1) {
    for (const each of found) {
      if (each.name === undefined) problems.push(`--server is NAME=HOSTS for each of several, found "${each.hosts}"`);
    }
    const names = found.map((each) => each.name);
    const twice = names.find((each, i) => each !== undefined && names.indexOf(each) < i);
    if (twice !== undefined) problems.push(`--server has the name "${twice}" twice`);
    if (name !== undefined) problems.push("--name is for one ensemble; --server NAME=HOSTS has the names of several");
  }
  for (const text of admin) {
    const [, of, sid, url] = /^(?:([\w.-]+)\/)?(\d{1,3})=(https?:\/\/\S+)$/.exec(text) ?? [];
    const ensemble =
      of === undefined ? (found.length === 1 ? found[0] : undefined) : found.find((each) => each.name === of);
    const fault = url === undefined ? undefined : adminUrlFault(url);
    if (sid === undefined || url === undefined || ensemble === undefined) {
      const form = found.length === 1 ? "N=http://host:port" : "NAME/N=http://host:port with the name of an ensemble";
      problems.push(`--admin is ${form}, found "${withoutCredentials(text)}"`);
    } else if (fault !== undefined) problems.push(`--admin ${sid}: ${fault}`);
    else ensemble.adminUrls[String(Number(sid))] = url;
  }
  const [first = { name, hosts: "", adminUrls: {} }, ...more] = found;
  return [first, ...more];
}

function hostsProblems(hosts: string): readonly string[] {
  try {
    parseConnectString(hosts);
    return [];
  } catch (error) {
    return [`--server: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, strict: true, allowPositionals: false });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new UsageError([text, "zooid-console --help lists all options"]);
  }
}
