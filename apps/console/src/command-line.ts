import { parseArgs } from "node:util";
import type { RoleOptions } from "@zooid/console";
import type { TlsFiles } from "./tls-files.ts";

export const USAGE = `zooid-console --server HOST:PORT[,HOST:PORT …] [options]

Serves a web console in front of a ZooKeeper ensemble, and prints its address.

  --server HOSTS      the servers, as a connect string; default 127.0.0.1:2181
  --port N            port of the console; default 8090; 0 lets the system choose
  --address A         address to listen on; * for every one; default 127.0.0.1
  --host-name NAME    beyond loopback: a name by which browsers reach the console; may be given more than once
  --name TEXT         the ensemble's name on the page
  --operator ID       may do everything; ID is digest:USER:HASH; may be given more than once
  --editor ID         may change nodes
  --viewer ID         may read
  --admin N=URL       the admin port of server N, as http://zk1:8080, for transfers of the leadership, drains and ended sessions;
                      0 for a server without an ensemble; may be given more than once
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
      readonly hosts: string;
      readonly port: number;
      readonly address: string;
      readonly hostNames: readonly string[];
      readonly name: string | undefined;
      readonly roles: RoleOptions;
      /** By the servers' numbers. */
      readonly adminUrls: Readonly<Record<string, string>>;
      readonly sessionTimeoutMs: number;
      /** Undefined: without TLS. */
      readonly tls: TlsFiles | undefined;
    };

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
  server: { type: "string", default: "127.0.0.1:2181" },
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
  const adminUrls: Record<string, string> = {};
  for (const text of values.admin) {
    const [, sid, url] = /^(\d{1,3})=(https?:\/\/\S+)$/.exec(text) ?? [];
    if (sid === undefined || url === undefined || !URL.canParse(url)) {
      problems.push(`--admin is N=http://host:port, found "${text}"`);
    } else adminUrls[String(Number(sid))] = url;
  }
  const tls: TlsFiles = {
    ...{ authorities: values["tls-ca"], certificate: values["tls-cert"], key: values["tls-key"] },
    ...{ keyPassword: values["tls-key-password-file"], serverName: values["tls-name"] },
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
    hosts: values.server,
    port: whole("--port", values.port, 65_535),
    address: values.address,
    hostNames: values["host-name"].map((name) => name.toLowerCase()),
    name: values.name,
    roles: { operators: values.operator, editors: values.editor, viewers: values.viewer },
    adminUrls,
    sessionTimeoutMs: whole("--timeout", values.timeout, 600_000),
    tls: usesTls ? tls : undefined,
  };
  if (problems.length > 0) throw new UsageError(problems);
  return command;
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, strict: true, allowPositionals: false });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new UsageError([text, "zooid-console --help lists all options"]);
  }
}
