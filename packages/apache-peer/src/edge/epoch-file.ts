import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { EPOCH_MAX } from "@zooid/model";
import type { Epochs } from "../core/observer.ts";
import { ApachePeerError } from "../core/peer-error.ts";

const NO_EPOCHS: Epochs = { acceptedEpoch: 0, currentEpoch: 0 };

/**
 * Where an observer keeps the epochs that it has promised to follow: a line of JSON, replaced as a
 * whole. Without a file they last as long as the process.
 */
export class EpochFile {
  readonly #file: string | undefined;
  #epochs: Epochs;

  /** @throws ApachePeerError EPOCH_FILE for a file that cannot be read, or that is another one */
  constructor(file: string | undefined) {
    this.#file = file;
    this.#epochs = file === undefined ? NO_EPOCHS : readEpochs(file);
  }

  get epochs(): Epochs {
    return this.#epochs;
  }

  /** They are durable when it returns. @throws ApachePeerError EPOCH_FILE */
  keep(epochs: Epochs): void {
    if (this.#file !== undefined) writeEpochs(this.#file, epochs);
    this.#epochs = epochs;
  }
}

function readEpochs(file: string): Epochs {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return NO_EPOCHS;
    throw unusable(file, error);
  }
  try {
    const { acceptedEpoch, currentEpoch } = JSON.parse(text) as Readonly<Record<keyof Epochs, unknown>>;
    if (isEpoch(acceptedEpoch) && isEpoch(currentEpoch) && currentEpoch <= acceptedEpoch)
      return { acceptedEpoch, currentEpoch };
  } catch (error) {
    throw unusable(file, error);
  }
  throw unusable(file, "expected acceptedEpoch and currentEpoch, found something else");
}

function isEpoch(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < EPOCH_MAX;
}

function writeEpochs(file: string, epochs: Epochs): void {
  const next = `${file}.next`;
  try {
    const fd = openSync(next, "w");
    try {
      writeSync(fd, `${JSON.stringify(epochs)}\n`);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(next, file);
    const directory = openSync(dirname(file), "r");
    try {
      fsyncSync(directory);
    } finally {
      closeSync(directory);
    }
  } catch (error) {
    throw unusable(file, error);
  }
}

function unusable(file: string, cause: unknown): ApachePeerError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ApachePeerError({ code: "EPOCH_FILE", file, reason }, cause instanceof Error ? { cause } : {});
}
