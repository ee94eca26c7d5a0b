import { formatSessionId, formatZxid } from "@zooid/model";
import type { LogEvent, OperatorEvent } from "./log-events.ts";

/** The parts of a log line that a log collector searches by, beside its text. */
export interface LogFields<Event extends string = LogEvent> {
  /** The kind of line: one of {@link LOG_EVENTS}. */
  readonly event: Event;
  /** Another server of the ensemble. */
  readonly peer?: number | undefined;
  /** `host:port` of the other side. */
  readonly address?: string;
  /** Hexadecimal, as in four-letter words. */
  readonly session?: string;
  readonly epoch?: number;
  /** Hexadecimal. */
  readonly zxid?: string;
  readonly role?: string;
  /** A duration of what the line reports. */
  readonly durationMs?: number;
  /**
   * A request's operation, as the label of `zooid_request_seconds`; its path; the client's number
   * for it.
   */
  readonly op?: string;
  readonly path?: string;
  readonly xid?: number;
  /** Stages of a slow request; see `RequestStages` of `@zooid/replica`. */
  readonly waitMs?: number | undefined;
  readonly queueMs?: number | undefined;
  readonly forwardMs?: number | undefined;
  readonly syncMs?: number | undefined;
  readonly commitMs?: number | undefined;
  readonly applyMs?: number | undefined;
  readonly sendMs?: number;
  /** Lines of this kind that were not written. */
  readonly suppressed?: number;
  /** Why a connection or request was refused: a fixed set, as in the metrics. */
  readonly refusal?: string;
}

/** Writes a line for operators. */
export type WriteLine = (text: string, fields: LogFields) => void;

/** The fields of a replica's event. */
export function fieldsOf(event: OperatorEvent): LogFields {
  return {
    event: event.kind,
    ...("sid" in event ? { peer: event.sid } : "to" in event ? { peer: event.to } : {}),
    ...("leader" in event ? { peer: event.leader } : {}),
    ...("epoch" in event ? { epoch: event.epoch } : {}),
    ...("silentMs" in event ? { durationMs: event.silentMs } : {}),
    ...("zxid" in event ? { zxid: formatZxid(event.zxid) } : {}),
    ...("fault" in event && "session" in event.fault ? { session: formatSessionId(event.fault.session) } : {}),
    ...("address" in event ? { address: event.address } : {}),
  };
}
