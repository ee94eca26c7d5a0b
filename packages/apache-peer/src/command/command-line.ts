import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { parseZxid } from "@zooid/model";
import type { FollowOptions } from "../follow/follow-options.ts";

export const USAGE = `Usage: apache-peer follow HOST:PORT,… [options]

Follows an Apache ZooKeeper ensemble as an observer and prints its transactions, one line of JSON
each, in order. HOST:PORT are the quorum ports of all servers (2888), or their observerMasterPort.
Standard error tells how the link stands. Ctrl-C ends it.

Options:
  --after ZXID           continue behind this transaction; without it a snapshot comes first
  --nodes                print the snapshot too: its sessions, access lists and nodes
  --epochs FILE          keep the promised epochs in this file
  --sid NUMBER           our server id, above those of all voters and below 255 (254)
  --spool-mib NUMBER     what may wait to be printed (4096)
  --tls-key FILE --tls-cert FILE --tls-ca FILE
                         TLS between servers, in PEM
  --tls-any-host         the certificate of a server need not name its host
  --user NAME --password-file FILE
                         SASL between servers, DIGEST-MD5
  --help, --version
`;

export type Command =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "follow"; readonly hosts: string; readonly hasNodes: boolean; readonly options: FollowOptions };

/** A mistake in the command line, with one sentence. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const MIB = 1024 * 1024;

/** @throws UsageError */
export function parseCommand(argv: readonly string[]): Command {
  const { values, positionals } = parsed(argv);
  if (values.help === true) return { kind: "help" };
  if (values.version === true) return { kind: "version" };
  const [name, hosts, ...more] = positionals;
  if (name !== "follow") throw new UsageError(`expected the command follow, found ${name ?? "none"}; see --help`);
  if (hosts === undefined) throw new UsageError("expected HOST:PORT,… behind follow; see --help");
  if (more.length > 0) throw new UsageError(`expected one list of hosts, with commas, found ${more.length} more words`);
  const options: { -readonly [K in keyof FollowOptions]: FollowOptions[K] } = {};
  if (values.after !== undefined) options.after = usable("--after", () => parseZxid(values.after ?? ""));
  if (values.epochs !== undefined) options.epochFile = values.epochs;
  if (values.sid !== undefined) options.sid = Number(values.sid);
  if (values["spool-mib"] !== undefined) options.spoolBytesMax = Number(values["spool-mib"]) * MIB;
  const key = values["tls-key"];
  const cert = values["tls-cert"];
  const ca = values["tls-ca"];
  if (key !== undefined && cert !== undefined && ca !== undefined) {
    options.tls = {
      key: textOf("--tls-key", key),
      cert: textOf("--tls-cert", cert),
      ca: textOf("--tls-ca", ca),
      checksHost: values["tls-any-host"] !== true,
    };
  } else if (key !== undefined || cert !== undefined || ca !== undefined) {
    throw new UsageError("--tls-key, --tls-cert and --tls-ca are given together or not");
  }
  const passwordFile = values["password-file"];
  if (values.user !== undefined && passwordFile !== undefined) {
    options.login = { username: values.user, password: textOf("--password-file", passwordFile).replace(/\r?\n$/, "") };
  } else if (values.user !== undefined || passwordFile !== undefined) {
    throw new UsageError("--user and --password-file are given together or not");
  }
  return { kind: "follow", hosts, hasNodes: values.nodes === true, options };
}

function parsed(argv: readonly string[]): ReturnType<typeof parseArgs<typeof CONFIG>> {
  try {
    return parseArgs({ ...CONFIG, args: [...argv] });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

const CONFIG = {
  allowPositionals: true,
  options: {
    after: { type: "string" },
    nodes: { type: "boolean" },
    epochs: { type: "string" },
    sid: { type: "string" },
    "spool-mib": { type: "string" },
    "tls-key": { type: "string" },
    "tls-cert": { type: "string" },
    "tls-ca": { type: "string" },
    "tls-any-host": { type: "boolean" },
    user: { type: "string" },
    "password-file": { type: "string" },
    help: { type: "boolean" },
    version: { type: "boolean" },
  },
} as const;

function textOf(option: string, file: string): string {
  return usable(option, () => readFileSync(file, "utf8"));
}

function usable<T>(option: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`${option}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
