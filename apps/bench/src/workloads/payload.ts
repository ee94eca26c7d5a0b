import type { Bench, Workload } from "../bench.ts";
import { readTemplate, setTemplate } from "../connections/request-template.ts";
import { formatBytes } from "../results/format.ts";
import type { Measurement } from "../results/measurement.ts";
import { nodePath } from "../tree.ts";
import { UsageError } from "../usage-error.ts";
import { measureRequests } from "./request-point.ts";
import { filled, onlyHosts, treeOn } from "./with-tree.ts";

const MIB = 1024 * 1024;
/**
 * A request is a frame of at most 1 MiB less one byte, as servers ship: 1 MiB of data means what
 * leaves 1 KiB for the rest.
 */
const LARGEST = MIB - 1024;
const SIZES = [0, 100, 1024, 64 * 1024, LARGEST];
/** So that large values do not become gigabytes in flight. */
const BYTES_IN_FLIGHT_MAX = 16 * 1024 * 1024;
/** Large values need fewer nodes to be out of every cache. */
const TREE_BYTES_MAX = 64 * 1024 * 1024;

/** Reads, then sets, of values of one size after the other. */
export const payload: Workload = {
  name: "payload",
  summary: "reads and sets by size of the value (--sizes)",
  axis: { label: "bytes of data", scale: "logarithmic" },
  pretence: ({ sizes, payloadBytes }) => {
    const [only, ...others] = sizesOf(sizes, payloadBytes);
    if (only === undefined || others.length > 0) {
      throw new UsageError("a null server has values of one size: calibrate payload with one, such as --sizes 1KiB");
    }
    return { payloadBytes: only, children: 0 };
  },
  async *run(bench: Bench): AsyncIterable<Measurement> {
    const { config } = bench;
    const hosts = onlyHosts(bench, "payload");
    await using tree = await treeOn(bench, hosts);
    for (const size of sizesOf(config.sizes, config.payloadBytes)) {
      const nodes = Math.max(1, Math.min(config.nodes, Math.floor(TREE_BYTES_MAX / Math.max(1, size))));
      const parent = await filled(bench, tree, { name: `of-${size}`, count: nodes, payloadBytes: size });
      const path = nodePath(parent);
      const templates = [readTemplate("read", path), setTemplate("write", path, new Uint8Array(size))];
      for (const template of templates) {
        const { measurement } = await measureRequests(bench, {
          point: `${template.kind} ${formatBytes(size)}`,
          series: template.kind,
          x: size,
          hosts,
          mix: [{ template, weight: 1 }],
          nodes,
          bytesInFlightMax: BYTES_IN_FLIGHT_MAX,
          frameBytes: size + 200,
        });
        yield measurement;
      }
      await tree.remove(parent);
    }
  },
};

function sizesOf(sizes: readonly number[] | undefined, payloadBytes: number | undefined): readonly number[] {
  const wanted = sizes ?? (payloadBytes === undefined ? SIZES : [payloadBytes]);
  return wanted.map((size) => (size === MIB ? LARGEST : size));
}
