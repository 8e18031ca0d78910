from django.urls import URLPattern

api_patterns: list[URLPattern] = []
urlpatterns: list[URLPattern] = []
