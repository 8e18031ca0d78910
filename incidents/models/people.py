from datetime import datetime

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from incidents.domain.permissions import Grant, Role


class User(AbstractUser):
    """A person or a service account. What it may do stands in its role grants, not here."""

    display_name = models.CharField(max_length=120, blank=True)
    language = models.CharField(max_length=10, blank=True)
    time_zone = models.CharField(max_length=64, default="UTC")
    is_service = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.display_name or self.get_full_name() or self.username

    @property
    def initials(self) -> str:
        words = str(self).split()
        return "".join(word[0] for word in (words[0], words[-1])).upper() if len(words) > 1 else words[0][:2].upper()

    def grants(self) -> tuple[Grant, ...]:
        """The role grants, one Grant each; read once per instance."""
        if not hasattr(self, "_grants"):
            self._grants = tuple(row.as_grant() for row in self.role_grants.all()) if self.is_active else ()
        return self._grants


class Team(models.Model):
    name = models.CharField(max_length=80, unique=True)
    members = models.ManyToManyField(User, through="Membership", related_name="teams")

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    team = models.ForeignKey(Team, on_delete=models.CASCADE)
    user = models.ForeignKey(User, on_delete=models.CASCADE)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="member_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class RoleGrant(models.Model):
    """A role of a person; bound to a team or a cluster where one is named."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="role_grants")
    role = models.CharField(max_length=20, choices=[(role.value, role.value) for role in Role])
    team = models.ForeignKey(Team, on_delete=models.CASCADE, null=True, blank=True)
    cluster = models.ForeignKey("incidents.Cluster", on_delete=models.CASCADE, null=True, blank=True)

    class Meta:
        constraints = [  # one per case, since SQLite takes each NULL for a value of its own
            models.UniqueConstraint(
                fields=["user", "role"], condition=Q(team=None, cluster=None), name="grant_once_everywhere"
            ),
            models.UniqueConstraint(
                fields=["user", "role", "team"], condition=Q(cluster=None), name="grant_once_in_a_team"
            ),
            models.UniqueConstraint(
                fields=["user", "role", "cluster"], condition=Q(team=None), name="grant_once_in_a_cluster"
            ),
            models.UniqueConstraint(fields=["user", "role", "team", "cluster"], name="grant_once_in_both"),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.role}"

    def as_grant(self) -> Grant:
        return Grant(
            Role(self.role),
            frozenset({self.team_id} - {None}),  # type: ignore[arg-type]
            frozenset({self.cluster_id} - {None}),  # type: ignore[arg-type]
        )


class ApiToken(models.Model):
    """A token for the API. Only its SHA-256 is kept; `prefix` lets people tell tokens apart."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"

    def is_valid(self, *, at: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or at < self.expires_at)


class SignInLink(models.Model):
    """A link that signs a person in once."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sign_in_links")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("sign-in link")

    def __str__(self) -> str:
        return f"sign-in link of {self.user}"
