"""The tables that a site edits. What has rules of its own (incidents, tokens, sources) is changed by its verbs only."""

from django.contrib import admin

from incidents.models import Cluster, FaultMatcher, Membership, Rack, RoleGrant, SeverityRuleRow, Team, User


class GrantInline(admin.TabularInline):
    model = RoleGrant
    extra = 0


class MemberInline(admin.TabularInline):
    model = Membership
    extra = 0


@admin.register(User)
class UserAdmin(admin.ModelAdmin):
    list_display = ["username", "display_name", "email", "is_active", "is_service"]
    search_fields = ["username", "display_name", "email"]
    fields = [
        "username",
        "display_name",
        "email",
        "language",
        "time_zone",
        "is_active",
        "is_service",
        "is_staff",
        "is_superuser",
    ]
    inlines = [GrantInline]

    def has_delete_permission(self, request: object, obj: User | None = None) -> bool:
        return False  # history names people; whoever leaves is made inactive


@admin.register(Team)
class TeamAdmin(admin.ModelAdmin):
    inlines = [MemberInline]


@admin.register(Cluster)
class ClusterAdmin(admin.ModelAdmin):
    list_display = ["name", "environment"]


@admin.register(Rack)
class RackAdmin(admin.ModelAdmin):
    list_display = ["name", "cluster", "power_feed", "cooling"]


@admin.register(SeverityRuleRow)
class SeverityRuleAdmin(admin.ModelAdmin):
    list_display = ["position", "name", "tier", "fault", "environment", "nodes", "is_cap"]


@admin.register(FaultMatcher)
class FaultMatcherAdmin(admin.ModelAdmin):
    list_display = ["position", "label", "pattern", "fault"]
