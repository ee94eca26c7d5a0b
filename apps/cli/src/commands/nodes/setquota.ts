import { type Client, isZkError } from "@zooid/client";
import { joinPath } from "@zooid/model";
import { CliError, usageError } from "../../cli-error.ts";
import { type Command, clientFor, operand } from "../../command.ts";
import type { Flags } from "../../command-flags.ts";
import { visitDepthFirst } from "../../subtree.ts";
import { dataText } from "../../texts/data-text.ts";
import {
  exceededWarnings,
  formatQuota,
  LIMITS_NAME,
  limitsPath,
  NO_COUNTS,
  NO_LIMITS,
  parseQuota,
  QUOTA_ROOT,
  type QuotaField,
  type QuotaRecord,
  STATS_NAME,
  statsPath,
} from "../../texts/quota-record.ts";
import { checkedPath } from "../../texts/znode-path.ts";

interface LimitFlag {
  readonly name: string;
  readonly field: QuotaField;
  readonly meaning: string;
  readonly isBytes: boolean;
}

export const LIMIT_FLAGS: readonly LimitFlag[] = [
  { name: "n", field: "count", meaning: "num soft quota", isBytes: false },
  { name: "b", field: "bytes", meaning: "bytes soft quota", isBytes: true },
  { name: "N", field: "countHardLimit", meaning: "num hard quota", isBytes: false },
  { name: "B", field: "byteHardLimit", meaning: "bytes hard quota", isBytes: true },
];

/** The limit of the given flag; the flags exclude each other. */
export function chosenLimit(flags: Flags): LimitFlag | undefined {
  return LIMIT_FLAGS.find(({ name }) => flags.has(name));
}

export const setquota: Command = {
  name: "setquota",
  synopsis: "-n|-b|-N|-B val path",
  flags: LIMIT_FLAGS.map(({ name }) => ({ name, takesValue: true, group: "limit" })),
  summary: "Limits the number of nodes below a path (-n, hard -N) or their bytes (-b, hard -B).",
  pathOperand: 0,
  async run(invocation) {
    const { flags, operands, output, signal } = invocation;
    const limit = chosenLimit(flags);
    if (limit === undefined) throw missingLimit();
    if (operands.length === 0) throw usageError(`setquota ${setquota.synopsis}`);
    const path = operand(invocation, 0);
    if (path.startsWith(QUOTA_ROOT)) {
      throw usageError(`cannot set a quota under the path: ${QUOTA_ROOT}`);
    }
    const value = Number(flags.value(limit.name));
    const fault = faultOf(flags.value(limit.name) ?? "", limit);
    if (fault !== undefined) throw usageError(fault);

    checkedPath(path);
    const client = await clientFor(invocation, path);
    if ((await client.exists(path, { signal })) === null) {
      throw new CliError(`${path} does not exist.`, { code: "NO_NODE", path });
    }
    checkedPath(`${QUOTA_ROOT}${path}`);
    await refuseNesting(client, path, signal);
    const limits = await store(client, path, { field: limit.field, value, signal });
    const stats = await client.getOrNull(statsPath(path), { signal });
    const used = stats === null ? NO_COUNTS : parseQuota(dataText(stats.data), statsPath(path));
    const warnings = exceededWarnings(limits, used);
    output.lines(warnings);
    return { path, quota: { ...limits }, used: { ...used }, warnings };
  },
};

function missingLimit(): Error {
  const options = LIMIT_FLAGS.map(({ name, meaning }) => `-${name} ${meaning}`).join(", ");
  return usageError(`org.apache.commons.cli.MissingOptionException: Missing required option: [${options}]`);
}

function faultOf(text: string, { isBytes }: LimitFlag): string | undefined {
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(Number(text))) {
    return "NumberFormatException happens when parsing the option value";
  }
  if (isBytes) return Number(text) < 0 ? "the bytes quota must be greater than or equal to zero" : undefined;
  return Number(text) <= 0 ? "the num quota must be greater than zero" : undefined;
}

/** A quota above or below another one would count nodes twice. */
async function refuseNesting(client: Client, path: string, signal: AbortSignal): Promise<void> {
  const names = path.slice(1).split("/");
  for (let depth = 1; depth < names.length; depth++) {
    const ancestor = `/${names.slice(0, depth).join("/")}`;
    if ((await client.exists(limitsPath(ancestor), { signal })) !== null) {
      throw new CliError(`${path} has a parent ${ancestor} which has a quota`, { code: "QUOTA_CONFLICT", path });
    }
  }
  const own = `${QUOTA_ROOT}${path}`;
  try {
    await visitDepthFirst(client, own, {
      signal,
      visit: (found) => {
        if (!found.endsWith(`/${LIMITS_NAME}`) || found === limitsPath(path)) return;
        const holder = found.slice(QUOTA_ROOT.length, -LIMITS_NAME.length - 1);
        throw new CliError(`${path} has a child ${holder} which has a quota`, { code: "QUOTA_CONFLICT", path });
      },
    });
  } catch (error) {
    if (!isZkError(error, "NO_NODE")) throw error;
  }
}

interface Change {
  readonly field: QuotaField;
  readonly value: number;
  readonly signal: AbortSignal;
}

/** @returns the current limits */
async function store(client: Client, path: string, { field, value, signal }: Change): Promise<QuotaRecord> {
  let parent = QUOTA_ROOT;
  for (const name of path.slice(1).split("/")) {
    parent = joinPath(parent, name);
    await createIfMissing(client, { path: parent, data: null, signal });
  }
  const fresh: QuotaRecord = { ...NO_LIMITS, [field]: value };
  if (await createIfMissing(client, { path: limitsPath(path), data: formatQuota(fresh), signal })) {
    await createIfMissing(client, { path: joinPath(parent, STATS_NAME), data: formatQuota(NO_COUNTS), signal });
    return fresh;
  }
  const { data } = await client.get(limitsPath(path), { signal });
  const changed: QuotaRecord = { ...parseQuota(dataText(data), limitsPath(path)), [field]: value };
  await client.set(limitsPath(path), formatQuota(changed), { signal });
  return changed;
}

interface NewNode {
  readonly path: string;
  readonly data: string | null;
  readonly signal: AbortSignal;
}

/** @returns whether it was created now */
async function createIfMissing(client: Client, { path, data, signal }: NewNode): Promise<boolean> {
  try {
    await client.create(path, data, { signal });
    return true;
  } catch (error) {
    if (isZkError(error, "NODE_EXISTS")) return false;
    throw error;
  }
}
