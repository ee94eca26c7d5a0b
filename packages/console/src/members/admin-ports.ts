import { type AdminFields, adminFields, adminUrlFault, fetchFault, foreignAdminAnswer } from "@zooid/model";
import type { User } from "../access/user.ts";
import { refuse } from "../http/problem.ts";

export type { AdminFields };

const ANSWER_MS = 15_000;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/**
 * The server in whose process the console is. It reports without credentials, so that the routes
 * which ask have to judge the requester's role.
 */
export interface OwnServer {
  /** 0 for a server without an ensemble. */
  readonly sid: number;
  report(name: OwnReport, query: Readonly<Record<string, string>>): Promise<AdminFields>;
}

export type OwnReport = "audit_tail" | "session_clients";

function isOwnReport(name: string): name is OwnReport {
  return name === "audit_tail" || name === "session_clients";
}

/** A command of a server's admin port. */
export interface AdminCommand {
  readonly sid: number | null;
  readonly name: string;
  readonly method?: "GET" | "POST";
  readonly query?: Readonly<Record<string, string>>;
  readonly user: User;
  readonly signal: AbortSignal;
}

/**
 * The admin ports of servers, where they are configured: requests go to these URLs and nowhere
 * else. Each carries the user's own credentials, and the server judges them as it does for its
 * other admin commands.
 */
export class AdminPorts {
  readonly #urls: ReadonlyMap<string, string>;
  readonly #own: OwnServer | undefined;

  /**
   * @param urls by the number of the server, 0 for a server without an ensemble
   * @throws RangeError for a URL that is none, or has credentials
   */
  constructor(urls: Readonly<Record<string, string>> = {}, own?: OwnServer) {
    for (const [sid, url] of Object.entries(urls)) {
      const fault = adminUrlFault(url);
      if (fault !== undefined) throw new RangeError(`adminUrls[${sid}]: ${fault}`);
    }
    this.#urls = new Map(Object.entries(urls));
    this.#own = own;
  }

  /** Whether a server can be asked for reports of its clients. */
  get hasReports(): boolean {
    return this.#own !== undefined || this.#urls.size > 0;
  }

  /** The numbers of the servers that are configured. */
  get sids(): readonly number[] {
    return [...this.#urls.keys()].map(Number);
  }

  /** @throws ProblemError for a server that is not configured, does not answer, or refuses */
  async run({ sid, name, method = "POST", query = {}, user, signal }: AdminCommand): Promise<AdminFields> {
    if (this.#own?.sid === (sid ?? 0) && isOwnReport(name)) {
      const fields = await this.#own.report(name, query);
      if (typeof fields["error"] !== "string") return fields;
      throw refuse(409, "ADMIN_REFUSED", "The server refuses", { detail: fields["error"] });
    }
    const base = this.#urls.get(String(sid ?? 0));
    if (base === undefined) {
      const detail = `Configure the admin port of server ${sid ?? 0}: zooid.console.adminPorts of zooid-server, --admin of zooid-console`;
      throw refuse(501, "NO_ADMIN_PORT", "The console does not know the server's admin port", { detail });
    }
    const url = commandUrl(base, name);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const { status, fields } = await ask(url, { method, user, signal });
    const { error } = fields;
    if (typeof error !== "string") return fields;
    if (status === 401 || status === 403) {
      throw refuse(403, "ADMIN_AUTH", "The server refuses", {
        detail: `${error}. Log in as the superuser, or as an identity with all permissions on the node /`,
      });
    }
    throw refuse(409, "ADMIN_REFUSED", "The server refuses", { detail: error });
  }
}

/** Commands stand below `/commands`, unless the configured URL has a path of its own. */
function commandUrl(base: string, name: string): URL {
  const url = new URL(base);
  const prefix = url.pathname === "/" ? "/commands" : url.pathname.replace(/\/$/, "");
  url.pathname = `${prefix}/${name}`;
  return url;
}

interface Asking {
  readonly method: string;
  readonly user: User;
  readonly signal: AbortSignal;
}

async function ask(url: URL, { method, user, signal }: Asking): Promise<{ status: number; fields: AdminFields }> {
  const { credential } = user;
  const headers: Record<string, string> =
    credential === undefined ? {} : { Authorization: `${credential.scheme} ${credential.auth}` };
  try {
    const answer = await fetch(url, {
      method,
      headers,
      // No admin port redirects, and another service would be given the credentials.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    });
    const { status } = answer;
    const text = await boundedText(answer);
    const fields = adminFields(text);
    if (fields !== undefined) return { status, fields };
    throw new Error(foreignAdminAnswer(status, text));
  } catch (error) {
    signal.throwIfAborted();
    throw refuse(502, "NO_ADMIN_ANSWER", "The server's admin port gives no usable answer", {
      detail: `${url.host}: ${fetchFault(error)}`,
    });
  }
}

async function boundedText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of answer.body ?? []) {
    sizeBytes += chunk.length;
    if (sizeBytes > ANSWER_BYTES_MAX) throw new RangeError(`more than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
