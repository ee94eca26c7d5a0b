import type { DueWork } from "../due-work.ts";
import type { RoleChanges } from "../role-changes.ts";
import type { DeliveryParts } from "./delivery.ts";

export interface RoleParts extends DeliveryParts {
  readonly roles: RoleChanges;
  readonly dueWork: DueWork;
}
