import { bytesText, percentText } from "../figures.ts";
import { type Finding, finding } from "../finding.ts";
import { shellWord } from "../shell-word.ts";
import type { DirectoryFacts, MachineFacts } from "./machine-facts.ts";

/** Slower, and each write waits noticeably for the disk. */
export const SYNC_MS_MAX = 20;
const PERCENTILE = 0.99;
export const FREE_SHARE_MIN = 0.1;
/** Enough on a disk of any size: a tenth of a large one is more than a log needs. */
export const FREE_BYTES_ENOUGH: number = 20 * 2 ** 30;
export const THROTTLED_SHARE_MAX = 0.01;
export const DESCRIPTORS_MIN = 4096;
/** Beside the tree: code, buffers, the log, and garbage between two collections. */
export const PROCESS_SHARE_OF_TREE = 2;

const IN_MEMORY: ReadonlySet<string> = new Set(["tmpfs", "ramfs"]);
const OF_A_NETWORK = /^(nfs|cifs|smb|9p|ceph|gluster|fuse\.(sshfs|gluster|s3))/;

/** The findings of a server's machine. */
export function machineFindings(subject: string, facts: MachineFacts): readonly Finding[] {
  return [
    ...facts.directories.flatMap((directory) => directoryFindings(directory)),
    ...memoryFindings(subject, facts),
    ...throttling(subject, facts),
    ...descriptors(subject, facts),
    ...clock(subject, facts),
  ];
}

function directoryFindings(directory: DirectoryFacts): readonly Finding[] {
  return [...unusable(directory), ...fileSystem(directory), ...room(directory), ...syncTimes(directory)];
}

function unusable({ path, uses, fault }: DirectoryFacts): readonly Finding[] {
  if (fault === undefined) return [];
  return [finding("directory-unusable", path, `${uses.join(" and ")} cannot be used: ${fault.reason}`, fault.remedy)];
}

function fileSystem({ path, uses, fileSystem: type }: DirectoryFacts): readonly Finding[] {
  if (type === undefined) return [];
  const found = `${uses.join(" and ")} is on ${type}`;
  const remedy = `mount a disk of the machine there, or set ${uses[0]} to a directory on one`;
  if (IN_MEMORY.has(type)) return [finding("data-in-memory", path, found, remedy)];
  if (type === "overlay")
    return [finding("data-on-overlay", path, found, "mount a volume there (docker run -v zooid-data:/data)")];
  return OF_A_NETWORK.test(type) ? [finding("data-on-network", path, found, remedy)] : [];
}

function room({ path, bytes, freeBytes }: DirectoryFacts): readonly Finding[] {
  if (bytes === undefined || freeBytes === undefined || bytes === 0) return [];
  if (freeBytes >= Math.min(bytes * FREE_SHARE_MIN, FREE_BYTES_ENOUGH)) return [];
  return [
    finding(
      "disk-nearly-full",
      path,
      `${bytesText(freeBytes)} of ${bytesText(bytes)} are free, ${percentText(freeBytes / bytes)}`,
      `see what takes the room (du -xhd2 ${shellWord(path)}), or move the directory to a larger disk`,
    ),
  ];
}

function syncTimes({ path, uses, syncMs }: DirectoryFacts): readonly Finding[] {
  const p99 = syncMs[Math.min(syncMs.length - 1, Math.floor(syncMs.length * PERCENTILE))];
  if (p99 === undefined || p99 < SYNC_MS_MAX) return [];
  const median = syncMs[Math.floor(syncMs.length / 2)] ?? p99;
  return [
    finding(
      "sync-slow",
      path,
      `a synced write of 4 KiB takes ${p99.toFixed(1)} ms (p99 of ${syncMs.length}; median ${median.toFixed(1)})`,
      uses.includes("dataLogDir")
        ? "keep other programs off this disk, or set dataLogDir to a faster one"
        : "set dataLogDir to a disk of its own, or to a faster one",
    ),
  ];
}

function memoryFindings(subject: string, { memory }: MachineFacts): readonly Finding[] {
  const { totalBytes, limitBytes, heldBytesMax, swappedBytes } = memory;
  const findings: Finding[] = [];
  const available = Math.min(totalBytes ?? Number.POSITIVE_INFINITY, limitBytes ?? Number.POSITIVE_INFINITY);
  if (heldBytesMax !== undefined && heldBytesMax * PROCESS_SHARE_OF_TREE > available) {
    const limit = limitBytes === available ? "the control group's limit is" : "the machine has";
    findings.push(
      finding(
        "memory-short",
        subject,
        `the tree may take ${bytesText(heldBytesMax)}, and ${limit} ${bytesText(available)}`,
        `set zooid.heldBytesMax to ${Math.floor(available / PROCESS_SHARE_OF_TREE)} at most, or raise the limit to ${bytesText(heldBytesMax * PROCESS_SHARE_OF_TREE)}`,
      ),
    );
  }
  if (swappedBytes !== undefined && swappedBytes > 0) {
    const found = `${bytesText(swappedBytes)} of the server's process are in swap`;
    findings.push(finding("swap-used", subject, found, "swapoff -a, or vm.swappiness=0 and less on this machine"));
  }
  return findings;
}

function throttling(subject: string, { processor }: MachineFacts): readonly Finding[] {
  const { periods = 0, throttledPeriods = 0 } = processor;
  if (periods === 0 || throttledPeriods / periods <= THROTTLED_SHARE_MAX) return [];
  const found = `the processor quota was used up in ${throttledPeriods} of ${periods} periods, ${percentText(throttledPeriods / periods)}`;
  return [finding("cpu-throttled", subject, found, "remove the quota (Kubernetes: no limits.cpu), or raise it")];
}

function descriptors(subject: string, { descriptorsMax }: MachineFacts): readonly Finding[] {
  if (descriptorsMax === undefined || descriptorsMax >= DESCRIPTORS_MIN) return [];
  const found = `a process may have ${descriptorsMax} files and connections open`;
  return [
    finding("descriptors-few", subject, found, "ulimit -n 65536 before the start, or LimitNOFILE=65536 in its unit"),
  ];
}

function clock(subject: string, { isClockSynchronized }: MachineFacts): readonly Finding[] {
  if (isClockSynchronized !== false) return [];
  const found = "the kernel says that its clock follows no time server";
  return [finding("clock-free", subject, found, "timedatectl set-ntp true, or start chrony")];
}
