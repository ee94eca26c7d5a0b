import { type Progress, restMs, shareOf } from "../model/progress.ts";
import { Button } from "./button.tsx";

interface ProgressBarProps {
  readonly label: string;
  readonly progress: Progress;
  /** The counted things, such as nodes. */
  readonly unit: string;
  readonly onCancel: () => void;
}

export function ProgressBar({ label, progress, unit, onCancel }: ProgressBarProps) {
  const { doneCount, total, elapsedMs } = progress;
  const [share, rest] = [shareOf(progress), restMs(progress)];
  const perSecond = elapsedMs > 0 ? Math.round((doneCount / elapsedMs) * 1000) : 0;
  const parts = [
    `${doneCount.toLocaleString()}${total === undefined ? "" : ` of about ${total.toLocaleString()}`} ${unit}`,
    `${perSecond.toLocaleString()} a second`,
    ...(rest === undefined ? [] : [`${Math.ceil(rest / 1000)} s left`]),
  ];
  return (
    <div class="progress">
      <progress aria-label={label} max={1} {...(share === undefined ? {} : { value: share })} />
      <span class="hint" role="status">
        {parts.join(", ")}
      </span>
      <Button text="Stop" onClick={onCancel} />
    </div>
  );
}
