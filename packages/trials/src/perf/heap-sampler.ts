import type { HeapProfiler } from "node:inspector";
import { Session } from "node:inspector/promises";

const SAMPLE_BYTES = 16 * 1024;

/**
 * Bytes that JavaScript allocates while something runs, what is collected meanwhile included. What
 * lies outside its heap is not.
 */
export async function heapBytesOf(work: () => Promise<void>): Promise<number> {
  return bytesBelow(await heapProfileOf(work));
}

/** The same by place, as a tree of calls. */
export async function heapProfileOf(work: () => Promise<void>): Promise<HeapProfiler.SamplingHeapProfileNode> {
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.startSampling", {
    samplingInterval: SAMPLE_BYTES,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  } as HeapProfiler.StartSamplingParameterType);
  await work();
  const { profile } = await session.post("HeapProfiler.stopSampling");
  session.disconnect();
  return profile.head;
}

function bytesBelow({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((sum, child) => sum + bytesBelow(child), selfSize);
}
