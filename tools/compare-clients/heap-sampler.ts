import type { HeapProfiler } from "node:inspector";
import { Session } from "node:inspector/promises";

const SAMPLE_BYTES = 16 * 1024;

/**
 * Bytes that JavaScript allocates while something runs, what is collected meanwhile included. What
 * lies outside its heap is not.
 */
export async function heapBytesOf(work: () => Promise<void>): Promise<number> {
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
  return bytesBelow(profile.head);
}

function bytesBelow({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((sum, child) => sum + bytesBelow(child), selfSize);
}
