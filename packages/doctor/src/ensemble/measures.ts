import { type CliCall, cliCommand } from "../cli-call.ts";
import { percentText } from "../figures.ts";
import { type Finding, finding } from "../finding.ts";
import { SYNC_MS_MAX } from "../machine/machine-findings.ts";
import type { Metrics, Sample, ServerFacts } from "./ensemble-facts.ts";

export const DESCRIPTORS_SHARE_MAX = 0.8;
export const CLOCK_OFFSET_MS_MAX = 1000;
/** Elections in a thousand years at one a day. */
export const EPOCHS_LEFT_MIN = 365_000;

/** The findings of a server's metrics. */
export function measureFindings({ name, address, admin }: ServerFacts, cli: CliCall): readonly Finding[] {
  if (admin === undefined) return [];
  const { metrics } = admin;
  return [
    ...descriptors(name, metrics, cliCommand(cli, "4lw cons", address)),
    ...syncs(name, metrics),
    ...clocks(name, metrics),
    ...history(name, metrics),
    ...room(name, metrics),
    ...epochs(name, metrics),
  ];
}

function firstValue(metrics: Metrics, metric: string): number | undefined {
  return metrics.get(metric)?.[0]?.value;
}

/** @param listConnections the command that lists the connections of the server's clients */
function descriptors(name: string, metrics: Metrics, listConnections: string): readonly Finding[] {
  const [open, most] = [
    firstValue(metrics, "open_file_descriptor_count"),
    firstValue(metrics, "max_file_descriptor_count"),
  ];
  if (open === undefined || most === undefined || most <= 0 || open / most <= DESCRIPTORS_SHARE_MAX) return [];
  const found = `${open} of ${most} descriptors are in use, ${percentText(open / most)}`;
  return [
    finding(
      "descriptors-near",
      name,
      found,
      `raise LimitNOFILE (ulimit -n), or look for clients that leak connections: ${listConnections}`,
    ),
  ];
}

function syncs(name: string, metrics: Metrics): readonly Finding[] {
  const [sum, count] = [firstValue(metrics, "fsynctime_sum"), firstValue(metrics, "fsynctime_count")];
  if (sum === undefined || count === undefined || count === 0 || sum / count < SYNC_MS_MAX) return [];
  const found = `a sync of its log takes ${(sum / count).toFixed(1)} ms, in the mean of ${count}`;
  return [finding("sync-slow", name, found, "measure the disk on its machine (zooid-server check zoo.cfg)")];
}

function clocks(name: string, metrics: Metrics): readonly Finding[] {
  const samples: readonly Sample[] = metrics.get("zooid_peer_clock_offset_seconds") ?? [];
  return samples
    .map(({ labels, value }) => ({ labels, aheadMs: Math.round(value * 1000) }))
    .filter(({ aheadMs }) => Math.abs(aheadMs) > CLOCK_OFFSET_MS_MAX)
    .map(({ labels, aheadMs }) => {
      const found = `the clock of server ${Object.values(labels).join(" ")} is ${Math.abs(aheadMs)} ms ${aheadMs > 0 ? "ahead of" : "behind"} its own`;
      return finding(
        "clocks-differ",
        name,
        found,
        "let both follow one time server: timedatectl set-ntp true, or chrony",
      );
    });
}

function history(name: string, metrics: Metrics): readonly Finding[] {
  if ((firstValue(metrics, "zooid_history_failing") ?? 0) === 0) return [];
  const found = "its history is not written (zooid_history_failing)";
  return [
    finding("history-failing", name, found, "its log says why (history-not-written); mostly the disk has no room"),
  ];
}

function room(name: string, metrics: Metrics): readonly Finding[] {
  const isLow = (firstValue(metrics, "zooid_disk_low") ?? 0) > 0;
  if (!isLow || (firstValue(metrics, "zooid_disk_full") ?? 0) > 0) return [];
  const found = "its disk has little room (zooid_disk_low)";
  return [finding("disk-low", name, found, "free room in its data directory, or move it to a larger disk")];
}

function epochs(name: string, metrics: Metrics): readonly Finding[] {
  const left = firstValue(metrics, "zooid_epochs_left");
  if (left === undefined || left >= EPOCHS_LEFT_MIN) return [];
  const found = `${left} elections are left`;
  return [finding("epochs-few", name, found, "its log names the reason of each election (role): end what causes them")];
}
