from rest_framework.pagination import CursorPagination


class NewestFirst(CursorPagination):
    """Pages by key, at any depth at the same cost; `?page_size=` up to 200."""

    ordering = "-id"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200
