import type { ComponentProps } from "preact";
import { Icon, type IconName } from "./icon.tsx";

type ButtonAttributes = Omit<ComponentProps<"button">, "children">;

interface ButtonProps extends ButtonAttributes {
  readonly text: string;
  readonly icon?: IconName;
}

/** A button with a text; it submits its form only with `type="submit"`. */
export function Button({ text, icon, ...attributes }: ButtonProps) {
  return (
    <button type="button" {...attributes}>
      {icon !== undefined && <Icon name={icon} />}
      {text}
    </button>
  );
}

interface IconButtonProps extends ButtonAttributes {
  readonly label: string;
  readonly icon: IconName;
}

/** A button with an icon alone; its label is for screen readers. */
export function IconButton({ label, icon, ...attributes }: IconButtonProps) {
  return (
    <button type="button" class="icon-button" aria-label={label} {...attributes}>
      <Icon name={icon} />
    </button>
  );
}
