import type { ComponentChildren } from "preact";
import { Icon } from "./icon.tsx";

interface BannerProps {
  readonly kind: "good" | "warning" | "critical";
  readonly role?: "status" | "alert";
  readonly children: ComponentChildren;
}

/** A sentence in a colored box, with an icon. */
export function Banner({ kind, role, children }: BannerProps) {
  return (
    <p class={`banner ${kind}`} role={role}>
      <Icon name={kind === "good" ? "check" : "warning"} />
      <span>{children}</span>
    </p>
  );
}
