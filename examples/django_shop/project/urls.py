"""The pages of the shop."""

from django.urls import path
from shop import views

urlpatterns = [
    path("orders", views.create),
    path("orders/broken", views.create_and_fail),
    path("orders/<int:number>", views.show),
]
